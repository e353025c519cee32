"""The Pythons that Ciphermark runs on, in words that any Python since 2.7 can read.

As a program it ends with 0 in one of them. 3.11.0 and 3.11.1 are too old because nothing is tested
on them; after 3.14 the pinned packages have no wheels.
"""

import sys

OLDEST = (3, 11, 2)
TOO_NEW = (3, 15)
IN_WORDS = "3.11.2 to 3.14"

THIS_SUITS = OLDEST <= tuple(sys.version_info[:3]) < TOO_NEW

if __name__ == "__main__":
    sys.exit(0 if THIS_SUITS else 1)
