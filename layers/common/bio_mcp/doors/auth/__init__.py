"""Authorization of HTTP calls: access tokens (RFC 9068, RFC 6750) and where clients get them (RFC 9728)."""
