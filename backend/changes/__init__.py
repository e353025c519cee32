"""Changes of the fleet: found in the runs of hosts, listed, decided on."""
