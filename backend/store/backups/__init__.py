"""A whole site in one file, and back: pg_dump's custom format, the verbatim documents included.

What people are signed in with (sessions) stays out: a backup is no way in.
"""
