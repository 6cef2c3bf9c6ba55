"""The report of an evaluation: one HTML page that needs no network and no script."""
