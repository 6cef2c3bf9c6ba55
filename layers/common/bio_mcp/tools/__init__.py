"""The public tools and resources, one module per Lambda function; `bio_mcp.catalog` collects them."""
