"""Everything on one machine: SQLite keeps it, numpy answers queries over it."""
