"""Tables and what reads and writes share: models, migrations, locks, statements, Redis."""
