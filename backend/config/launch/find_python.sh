#!/bin/sh
# Print the Python to use: $PYTHON, or the first suitable one. The tests run on 3.13 and 3.11.
if [ -n "$PYTHON" ]; then
    set -- "$PYTHON"
else
    set -- python3.13 python3.12 python3.11 python3.14 python3 python
fi
bare=
for candidate; do
    # 3.11.0 and 3.11.1 are untested. The pinned packages have no wheels for versions after 3.14.
    suits='import sys; sys.exit(not (3, 11, 2) <= sys.version_info[:3] < (3, 15))'
    "$candidate" -c "$suits" 2>/dev/null || continue
    if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
        command -v "$candidate"
        exit 0
    fi
    bare=${bare:-$candidate}
done
if [ -n "$bare" ]; then
    echo "$bare cannot create virtual environments. Install its venv module (Debian, Ubuntu: apt install python3-venv), or set PYTHON to another Python." >&2
else
    found="none was found on PATH"
    [ -z "$PYTHON" ] || found="PYTHON=$PYTHON is not suitable"
    echo "Ciphermark requires Python 3.11.2 to 3.14, but $found. Install one (Debian: apt install python3 python3-venv), or set PYTHON to its path." >&2
fi
exit 1
