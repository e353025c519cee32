"""`python -m config.embedded FOLDER`: stop the servers that nobody uses in a data folder."""

import sys
from pathlib import Path

from config.embedded import stop_unused

if __name__ == "__main__":
    stop_unused(Path(sys.argv[1]))
