"""Retrieval: text analysis, chunks, ranking, excerpts.

Pure functions over values; the engines that store and search passages are adapters.
"""
