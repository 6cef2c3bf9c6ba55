"""What the tests share: corpora and projects to search, servers, and reference implementations of ports."""
