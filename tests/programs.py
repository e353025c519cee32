"""Find or install programs that the tests require and pip cannot provide."""

import os
import shutil
import subprocess
from pathlib import Path

from config.launch import frontend, node

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
USUAL_FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/snap/bin")


class MissingProgram(Exception):
    """Report a program that cannot be installed. The message describes what the user can do."""


def provide(folder: Path, *, with_pages: bool) -> dict[str, str]:
    """Find or install all programs. Return environment variables for the tests.

    `with_pages`: also build the frontend and find or install Chromium.
    """
    openssl = find_or_install(("openssl",), "openssl")
    ssh = find_or_install(("ssh",), "openssh-client")
    sshd = find_or_install(("sshd",), "openssh-server")
    runtime = node.provide()
    frontend.install(runtime)
    paths = [runtime.environment()["PATH"], str(openssl.parent), str(ssh.parent)]
    variables = {"PATH": os.pathsep.join(paths), "CIPHERMARK_TEST_SSHD": str(sshd)}
    if not with_pages:
        return variables
    frontend.build(runtime)
    return {**variables, "CHROMIUM_PATH": str(chromium())}


def chromium() -> Path:
    named = (os.environ.get("CHROMIUM") or MAC_CHROME, *CHROMIUM)
    return find_or_install(named, "chromium")


def find_or_install(names: tuple[str, ...], package: str) -> Path:
    """Return the path of the first program in `names` that is installed.

    If no program is installed, install the Debian package `package`. Raise `MissingProgram` if the
    installation fails.
    """
    places = os.pathsep.join((os.environ.get("PATH", os.defpath), *USUAL_FOLDERS))
    found = next(filter(None, (shutil.which(name, path=places) for name in names)), None)
    if found is None:
        install(package)
        found = next(filter(None, (shutil.which(name, path=places) for name in names)), None)
    if found is None:
        raise MissingProgram(f"The tests require {names[-1]}. Install it (Debian: {package}).")
    return Path(found)


def install(package: str) -> None:
    # The caller reports a program that is still missing.
    prefix = () if os.geteuid() == 0 else ("sudo", "-n")
    if shutil.which("apt-get") is None or (prefix and shutil.which("sudo") is None):
        return
    print(f"Installing {package} with apt-get ...")
    for words in (("update",), ("install", "-y", "--no-install-recommends", package)):
        subprocess.run((*prefix, "apt-get", *words), check=False)
