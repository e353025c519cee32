#!/bin/sh
# Prints the Python to start with: $PYTHON, else the first that suits. The tests run on 3.13 and 3.11.
if [ -n "$PYTHON" ]; then
    set -- "$PYTHON"
else
    set -- python3.13 python3.12 python3.11 python3.14 python3 python
fi
bare=
for candidate; do
    # 3.11.0 and 3.11.1 are untested; after 3.14 the pinned packages have no wheels.
    suits='import sys; sys.exit(not (3, 11, 2) <= sys.version_info[:3] < (3, 15))'
    "$candidate" -c "$suits" 2>/dev/null || continue
    if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
        command -v "$candidate"
        exit 0
    fi
    bare=${bare:-$candidate}
done
if [ -n "$bare" ]; then
    echo "$bare cannot make virtual environments: install what it lacks (Debian, Ubuntu: apt install python3-venv), or name another Python with PYTHON=." >&2
else
    found="none is on PATH"
    [ -z "$PYTHON" ] || found="PYTHON=$PYTHON is not one"
    echo "Ciphermark needs Python 3.11.2 to 3.14, and $found: install one (Debian: apt install python3 python3-venv), or name it with PYTHON=." >&2
fi
exit 1
