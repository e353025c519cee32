"""The first step of every make target, in words that any Python since 2.7 can read.

It only refuses a too old Python; what follows is in `launch/__main__.py`.
"""

import os
import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "Ciphermark needs Python 3.11 or newer, and %s is %d.%d: install a newer one, "
        "or name it as in `make run PYTHON=/path/to/python3.11`.\n"
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )
    sys.exit(1)

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

if __name__ == "__main__":
    from launch.__main__ import main

    sys.exit(main(sys.argv[1:]))
