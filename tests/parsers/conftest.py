"""The shared corpora are an addition: without them their tests are not part of the suite."""

from tests.parsers.corpora import CORPUS

# Texts of other people, in ../shared/data beside the project; ours are in captures/. A skipped test
# counts as a failed one (`make test`), so these are collected only where they can run.
collect_ignore = [] if CORPUS.is_dir() else ["test_corpora_openssl.py", "test_corpora_ssh.py"]
