"""Django's PostgreSQL: health checks that rarely cost a round trip, and prepared statements."""
