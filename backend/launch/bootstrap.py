"""The first step of every make target, in words that any Python since 2.7 can read.

It only refuses a Python that does not suit; what follows is in `launch/__main__.py`.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from launch import python_versions

if not python_versions.THIS_SUITS:
    sys.stderr.write(
        "Ciphermark needs Python %s, and %s is %s: install one of these, or name it as in "
        "`make run PYTHON=/path/to/python3.13`.\n"
        % (python_versions.IN_WORDS, sys.executable, ".".join(map(str, sys.version_info[:3])))
    )
    sys.exit(1)

if __name__ == "__main__":
    from launch.__main__ import main

    sys.exit(main(sys.argv[1:]))
