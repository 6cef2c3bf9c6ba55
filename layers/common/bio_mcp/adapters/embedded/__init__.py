"""Adapters for one machine: SQLite stores the corpus, numpy searches it in memory."""
