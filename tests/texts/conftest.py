# Not every checkout has the shared corpora.
from tests.texts.corpora import DATA

collect_ignore = [] if DATA.is_dir() else ["test_corpora.py"]
