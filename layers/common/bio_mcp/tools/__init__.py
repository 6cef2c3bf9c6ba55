"""The public operations, one module per Lambda function. Gathered in bio_mcp.catalog."""
