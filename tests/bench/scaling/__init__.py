"""What larger fleets need, from costs that are measured here (docs/scaling.md)."""
