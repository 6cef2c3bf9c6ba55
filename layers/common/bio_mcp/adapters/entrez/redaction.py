"""Removes secrets and internals from NCBI's messages."""

import re

_SECRETS = re.compile(
    r"https?://\S+"  # addresses, which may hold a key
    r"|\S+@\S+"  # e-mail
    r"|\b(?:\d{1,3}\.){3}\d{1,3}\b"  # IPv4
    r"|(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])"  # IPv6
    r"|\b(?=\w*\d)[0-9A-Za-z_-]{25,}\b"  # API keys and WebEnvs
    r"|(?<![\w])/[\w.+-]+(?:/+[\w.+-]*)+"  # paths inside NCBI
)
_MAX_CHARS = 200


def redacted(text: str) -> str:
    """`text` on one line, at most 200 characters, without URLs, keys, e-mail and IP addresses, and paths."""
    line = _SECRETS.sub("[removed]", " ".join(text.split()))
    return line if len(line) <= _MAX_CHARS else line[: _MAX_CHARS - 1].rstrip() + "…"
