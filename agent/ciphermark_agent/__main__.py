#!/usr/bin/env python3
"""Start the agent.

Python 2 can also parse this file, so that an old Python prints the required version.
"""

import os
import sys


def main():  # type: () -> int
    if sys.version_info < (3, 6):
        words = "The Ciphermark agent requires Python 3.6 or later; this is Python %d.%d.\n"
        sys.stderr.write(words % sys.version_info[:2])
        return 2
    here = os.path.dirname(os.path.abspath(__file__))
    if not __package__ and os.path.isdir(here):  # started as a folder: the package is this one
        sys.path[0] = os.path.dirname(here)
    from ciphermark_agent import command_line

    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
