"""Biomedical literature for agents and researchers: sync it, search it, cite it."""

__version__ = "0.1.0"
