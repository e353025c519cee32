"""The page `/upload/`: from a form within bounds to cards that say what was understood."""
