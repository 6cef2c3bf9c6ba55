"""Entities and statements that a text holds, linked to the graph, and the job that reads documents for them."""
