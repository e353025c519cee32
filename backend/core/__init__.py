"""What all parts share, and the site as a whole: health, metrics, docs, backups."""
