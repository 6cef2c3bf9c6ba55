"""What a release holds of others, as a bill of materials in CycloneDX: read off the locks, the same for each run."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from bio_mcp import __version__
from bio_mcp.adapters.embedders.model_files import DEFAULT, PACKAGED, licence_of, read_manifest

NAME = "bio-mcp-literature"
SPECIFICATION = "1.6"
APACHE = [{"license": {"id": "Apache-2.0"}}]
_PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)\s*(?:;\s*(.*?))?\s*\\?$", re.MULTILINE)


def bill_of(lock: Path) -> dict[str, Any]:
    """The bill of what a lock names, and of the embedding model."""
    product: dict[str, Any] = {
        "type": "application",
        **_named(NAME, __version__),
        "licenses": APACHE,
    }
    components = [*_libraries(lock.read_text(encoding="utf-8")), _model()]
    references = [each["bom-ref"] for each in components]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, ' '.join([product['bom-ref'], *references]))}",
        "version": 1,
        "metadata": {"component": product},
        "components": components,
        "dependencies": [{"ref": product["bom-ref"], "dependsOn": references}],
    }


def _libraries(lock: str) -> Iterator[dict[str, Any]]:
    for name, version, marker in _PIN.findall(lock):
        library = {"type": "library", **_named(name, version)}
        where = {"properties": [{"name": "bio-mcp:installed-where", "value": marker}]} if marker else {}
        yield library | where


def _named(name: str, version: str) -> dict[str, str]:
    address = f"pkg:pypi/{name.lower()}@{version}"
    return {"bom-ref": address, "name": name, "version": version, "purl": address}


def _model() -> dict[str, Any]:
    of, _ = read_manifest(PACKAGED / DEFAULT)
    return {
        "type": "machine-learning-model",
        "bom-ref": f"model:{of.model_id}",
        "name": of.model_id,
        "hashes": [{"alg": "SHA-256", "content": of.weights_sha256}],
        "licenses": [{"license": {"id": licence_of(PACKAGED / DEFAULT)}}],
    }
