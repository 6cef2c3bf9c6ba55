"""Where a laptop's data is, unless a setting names another place."""

import sys
from pathlib import Path

HOME = Path("~/.bio-mcp")


def models(environment: str = sys.prefix) -> Path:
    """The directory of embedding models: inside the Python environment where `make setup` built them there, else one of
    the user's, which is still there when an environment is thrown away, as uvx does."""
    inside = Path(environment, "share", "bio-mcp", "models")
    return inside if inside.is_dir() else HOME / "models"
