"""What people take away: files, made at once or in the background, and shares."""
