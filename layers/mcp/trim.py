"""Makes the packages of this layer import less: `python trim.py DIRECTORY`, where they were installed.

A function pays for every import of each start. The SDK's packages import their client and a second server for others'
convenience, and the SDK and FastAPI build the validator of every message at once; then each is built on its first use.
"""

import re
import sys
from pathlib import Path

DEFERRED = "defer_build=True"
EDITS = (  # file, what is there, what takes its place
    ("mcp/__init__.py", r"(?s)\A.+\Z", ""),
    ("mcp/server/__init__.py", r"(?s)\A.+\Z", ""),
    ("mcp/client/_memory.py", r"from mcp\.server import Server\n", "from mcp.server.lowlevel import Server\n"),
    ("mcp/client/client.py", r"from mcp\.server import Server\n", "from mcp.server.lowlevel import Server\n"),
    ("mcp_types/_types.py", r"ConfigDict\((?=alias_generator=)", f"ConfigDict({DEFERRED}, "),
    ("mcp_types/_types.py", r"( = TypeAdapter\[\w+\]\(\w+)\)\n", rf"\1, config=ConfigDict({DEFERRED}))\n"),
    ("mcp_types/_wire_base.py", r"ConfigDict\((?=populate_by_name=)", f"ConfigDict({DEFERRED}, "),
    (
        "fastapi/openapi/models.py",
        r'model_config = \{"extra": "allow"\}',
        'model_config = {"extra": "allow", "defer_build": True}',
    ),
)


def trim(directory: Path) -> None:
    """Edit the files, which are written anew: those of uv share their contents with its cache. Raises `SystemExit`
    where a file is not as it was when this was written."""
    for name, there, instead in EDITS:
        file = directory / name
        text, found = re.subn(there, instead, file.read_text(encoding="utf-8"))
        if not found:
            raise SystemExit(f"{file} has nothing that matches {there!r}: look what layers/mcp/trim.py is to do now")
        file.unlink()
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    trim(Path(sys.argv[1]))
