"""A real OpenSearch node for tests: fetched by Maven, pinned by hash, started without a container."""
