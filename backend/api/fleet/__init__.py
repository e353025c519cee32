"""What happened in the fleet: changes that were found, and notes that people made."""
