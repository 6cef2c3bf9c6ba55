"""The outside world behind the ports: NCBI, embedding models, stores and indexes."""
