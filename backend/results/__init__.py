"""Questions to what is stored, from the columnar copy and from PostgreSQL. Reads only."""
