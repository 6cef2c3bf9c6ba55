"""An authorization server for one team (OAuth 2.1), over the port `Authorizations` and the MCP SDK's handlers.

People are signed in by `doors.auth.sessions`. What it gives out are the access tokens that `Tokens` accepts.
"""
