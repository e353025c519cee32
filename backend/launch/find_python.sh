#!/bin/sh
# Prints the Python to start with: $PYTHON, else the first that suits and can make a virtual
# environment, else any (what follows then says what is wrong with it). 3.13 and 3.11 are the
# versions that the tests run on.
folder=$(dirname "$0")
if [ -n "$PYTHON" ]; then
    command -v "$PYTHON" && exit 0
    echo "PYTHON=$PYTHON is not a program that can be started: give the path of a Python 3.11.2 to 3.14." >&2
    exit 1
fi
suiting=
found=
for candidate in python3.13 python3.12 python3.11 python3.14 python3 python; do
    # A name may exist and not start (pyenv's shims do that).
    "$candidate" -c '' >/dev/null 2>&1 || continue
    found=${found:-$candidate}
    "$candidate" "$folder/python_versions.py" >/dev/null 2>&1 || continue
    suiting=${suiting:-$candidate}
    # Debian's Python lacks them without the package python3-venv.
    if "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        command -v "$candidate"
        exit 0
    fi
done
if [ -n "$suiting$found" ]; then
    command -v "${suiting:-$found}"
    exit 0
fi
echo "Ciphermark needs Python 3.11.2 to 3.14, and none is on PATH: install one (Debian: apt install python3 python3-venv)." >&2
exit 1
