"""Why there is no backup and no restore."""


class BackupRefused(Exception):
    """Why there is no backup, no restore, or why a backup is not whole: in words."""


class NoProgram(BackupRefused):
    """No program of a fitting version: one sentence that says what to install."""
