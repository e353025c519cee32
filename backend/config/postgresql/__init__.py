"""Django's PostgreSQL, with a health check that rarely costs a round trip."""
