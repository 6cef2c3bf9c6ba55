"""The log of commands: a file beside the corpus, so that the terminal shows only the answer."""

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from bio_mcp.doors.logs import ReadableFormatter
from bio_mcp.settings import Settings

FILE = "bio-mcp.log"
FILE_BYTES = 1 << 20  # then the file is rotated; one earlier file is retained


class _InDirectory(RotatingFileHandler):
    """Creates the data directory and the file only when there is something to log, accessible to this user alone."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_WRONLY, 0o600))
        return super()._open()


def log_to_file(settings: Settings) -> None:
    """Log to the data directory; if it is not writable, nothing is logged."""
    logging.raiseExceptions = False  # a full disk must not print the log's troubles into the answer
    path = settings.home.expanduser() / FILE
    handler = _InDirectory(path, maxBytes=FILE_BYTES, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(ReadableFormatter())
    root = logging.getLogger()
    for old in root.handlers:
        if isinstance(old, _InDirectory):
            old.close()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("bio_mcp").setLevel(settings.log_level.upper())
