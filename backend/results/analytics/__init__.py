"""A columnar copy of every result that counts, which answers questions over many rows.

PostgreSQL keeps the truth. The copy is derived and disposable: it lives in the memory of a
process, follows the truth before each answer, and is built again when it is lost.
"""
