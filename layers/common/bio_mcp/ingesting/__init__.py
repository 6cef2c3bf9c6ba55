"""Ingest documents: from files, and whatever else brings them, into the index of a project."""
