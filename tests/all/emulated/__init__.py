"""The stack of template.yaml in an emulator of AWS, from a schedule to an answer over MCP."""
