from pathlib import Path

from tests.agent.running import STAND_IN, write_program

PROGRAM = """\
import os, sys
with open({log!r}, 'a') as file:
    print(*sys.argv[1:], file=file)
verb = next(word for word in sys.argv[1:] if not word.startswith('--'))
enabled = {log!r} + '.enabled'
if verb == 'enable':
    open(enabled, 'w').close()
elif verb == 'disable':
    os.unlink(enabled)
elif verb.startswith('is-'):
    sys.exit(not os.path.exists(enabled))
"""


class Systemctl:
    def __init__(self, home: Path) -> None:
        self.folder = home / "systemctl"
        self.folder.mkdir()
        self._log = home / "systemctl.log"
        write_program(self.folder / "systemctl", PROGRAM.format(log=str(self._log)))
        (self.folder / "openssl").symlink_to(STAND_IN)  # a program to measure

    def changes(self) -> list[str]:
        """Return the systemctl commands since the last call of this method, except queries."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.write_text("")
        return [line for line in lines if not any(word in line for word in ("is-", "show-"))]
