"""Rows of files, written by the database."""
