"""Reference profiles: made from a run or the fleet, described, compared."""
