"""What the numbers mean: statistics, normalisation, groups. Pure Python, no Django, no database."""
