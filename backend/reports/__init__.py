"""What people take away: files and shares."""
