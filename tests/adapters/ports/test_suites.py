"""Every port of `Backends` has a suite: here where it has several adapters, else beside its one adapter."""

from pathlib import Path

from bio_mcp.ports import Backends

TESTS = Path(__file__).parents[2]
VALUES = set("find_port answer_tau sync_max_records chunk_namespace scratch checks upstreams today now".split())
ELSEWHERE = {
    "indexes": "syncing/test_reindexing.py",
    "models": "test_wiring_models.py",
    "workers": "adapters/workers/test_pool.py",
    "entrez": "adapters/entrez",
    "pubmed_files": "adapters/entrez",
    "pubmed": "adapters/entrez",
    "lookup": "adapters/entrez",
    "metrics": "adapters/scholarly/test_icite.py",
    "notices": "adapters/scholarly/test_crossref.py",
    "europe_pmc": "adapters/scholarly/test_europe_pmc.py",
    "open_access": "adapters/scholarly/test_unpaywall.py",
    "parser": "adapters/parsers",
    "sources": "adapters/sources",
    "zotero": "adapters/zotero",
    "language_model": "adapters/language_models",
    "reranker": "adapters/rerankers",
}


def without_a_suite(ports):
    """The ports that have no test module of their name here, and nothing in `ELSEWHERE`."""
    places = {name: TESTS / ELSEWHERE.get(name, f"adapters/ports/test_{name}.py") for name in ports}
    return sorted(name for name, place in places.items() if not place.exists())


def ports_of(backends):
    named = {*vars(backends), *vars(backends).get("__annotations__", {})}
    return {name for name in named if not name.startswith("_")} - VALUES


def test_every_port_has_a_suite():
    assert without_a_suite(ports_of(Backends)) == []
    assert len(ports_of(Backends)) > 20
