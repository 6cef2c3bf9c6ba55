"""Language models that write answers."""
