"""Changes in the fleet, found as runs are processed: speeds, verdicts, hosts that went silent."""
