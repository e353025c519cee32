"""The disk of this machine (or container), and what lies on it: data, files, backups."""

import shutil
import time
from pathlib import Path

from django.conf import settings

from monitoring.checks.finding import Finding, duration, ok, warning, wrong
from monitoring.checks.remedies import back_up, prepare
from reports.export_jobs import LEAST_FREE_BYTES

LOW_BYTES = 5 * LEAST_FREE_BYTES

OLD_BACKUP = 2 * 86400
TOO_OLD_BACKUP = 8 * 86400
"""Seconds: a night missed, and a week of them."""


def disk() -> Finding:
    """The fullest of the file systems that our folders are on."""
    folders = (
        settings.DATA_DIR,
        settings.EXPORTS_DIR,
        settings.ANALYTICS_DIR,
        settings.BACKUPS_DIR,
    )
    free, folder = min((shutil.disk_usage(there).free, there) for there in map(_existing, folders))
    found = f"{free / 1e9:.1f} GB free for {folder}"
    to_do = "Make room, or set CIPHERMARK_KEEP_DAYS."
    if free < LEAST_FREE_BYTES:
        return wrong(f"{found}; exports are refused", to_do)
    return warning(found, to_do) if free < LOW_BYTES else ok(found)


def _existing(folder: Path) -> Path:
    """The folder, or where it would be made."""
    return next(one for one in (folder, *folder.parents) if one.is_dir())


def static_files() -> Finding:
    """Collected, or in production every page fails."""
    if not settings.PRODUCTION:
        return ok("need not be collected in development")
    if not (settings.STATIC_ROOT / "staticfiles.json").is_file():
        return wrong(
            f"none in {settings.STATIC_ROOT}",
            f"{prepare()}; or manage.py collectstatic --no-input.",
        )
    return ok(f"collected in {settings.STATIC_ROOT}")


def newest_backup() -> float | None:
    """When the newest dump in the folder of backups was written (Unix time)."""
    return max((path.stat().st_mtime for path in settings.BACKUPS_DIR.glob("*.dump")), default=None)


def backups() -> Finding:
    """Age of the newest dump in the folder of backups."""
    folder = settings.BACKUPS_DIR
    try:
        made = newest_backup()
    except OSError as error:
        return warning(f"{folder} cannot be read: {error.strerror}", "Let this user read it.")
    if made is None:
        found = f"none in {folder}"
        return warning(found, f"Each night: {back_up()}.") if settings.PRODUCTION else ok(found)
    age = time.time() - made
    found = f"the newest in {folder} is {duration(age)} old"
    if age > TOO_OLD_BACKUP:
        return wrong(found, f"See the log of what makes them: {back_up()}.")
    if age > OLD_BACKUP:
        return warning(found, "Last night's is missing: see the log of what makes them.")
    return ok(found)
