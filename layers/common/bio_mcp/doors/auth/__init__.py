"""Who may call over HTTP: access tokens (RFC 9068, RFC 6750) and where to get them (RFC 9728)."""
