#!/bin/sh
# Prints the Python to start with: $PYTHON, else the first that is new enough, else any
# (bootstrap.py then says that it is too old). 3.12 and 3.11 come first: for them every
# requirement exists as a ready-made wheel.
if [ -n "$PYTHON" ]; then
    command -v "$PYTHON" && exit 0
    echo "PYTHON=$PYTHON is not a program that can be started: give the path of a Python 3.11 or newer." >&2
    exit 1
fi
found=
for candidate in python3.12 python3.11 python3.13 python3.14 python3 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        command -v "$candidate"
        exit 0
    fi
    # A name may exist and not start (pyenv's shims do that).
    if [ -z "$found" ] && "$candidate" -c '' >/dev/null 2>&1; then
        found=$candidate
    fi
done
if [ -n "$found" ]; then
    command -v "$found"
    exit 0
fi
echo "Ciphermark needs Python 3.11 or newer, and none is on PATH: install one (Debian: apt install python3 python3-venv)." >&2
exit 1
