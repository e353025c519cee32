"""The development site's own secret key, made once and kept beside its data."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def development_secret_key(data_dir: Path) -> str:
    """The key in `data_dir`/secret-key, made (mode 0600) at the first start."""
    path = data_dir / "secret-key"
    if not path.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        draft = data_dir / f"secret-key.{os.getpid()}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT, 0o600), "w") as stream:
            stream.write(secrets.token_urlsafe(48))
        # link() takes the name only when it is free: of two first starts, both use one key.
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_text().strip()
