"""Collect tests of the shared corpora only where these exist."""

from tests.texts.corpora import DATA

collect_ignore = [] if DATA.is_dir() else ["test_corpora.py"]
