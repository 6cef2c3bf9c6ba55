"""Exports: papers as a file that a reference manager, a screening tool or a spreadsheet reads."""
