"""The shared corpora are an addition: without them their tests are not collected."""

from tests.texts.corpora import DATA

collect_ignore = [] if DATA.is_dir() else ["test_corpora.py"]
