"""How fast the names of a graph and of MeSH, and what sentences state of them, are read in texts.

    python -m benchmarks.names

The graph is made up, the texts are bundled abstracts. Seconds are of one core's own time (CPU).
"""

from collections.abc import Iterator
from time import process_time

from bio_mcp.extracting.gazetteer import Gazetteer, mesh
from bio_mcp.extracting.statements import findings_of
from bio_mcp.graph.nodes import Node, NodeType, names_of
from bio_mcp.literature.documents import ParsedDocument, ParsedSection
from bio_mcp.retrieval.chunking import abstract_text
from tests.extracting.graph_names import NODES
from tests.support.sample_corpus import articles

HERBS = (1_000, 100_000)
TIMES = 20  # that the abstracts are read


def main() -> None:
    start = process_time()
    mesh()
    print(f"names of MeSH: {process_time() - start:.2f} s to load, once a process")
    texts = [text for each in articles() if (text := abstract_text(each))]
    for many in HERBS:
        print(measured(many, texts))


def measured(many: int, texts: list[str]) -> str:
    start = process_time()
    gazetteer = Gazetteer(names(many))
    built, start = process_time() - start, process_time()
    for text in texts * TIMES:
        findings_of(ParsedDocument((ParsedSection(text),)), gazetteer.find)
    rate = sum(map(len, texts)) * TIMES / (process_time() - start)
    return f"{many:,} herbs with two names: {built:.2f} s to load, {rate:,.0f} characters read a second"


def names(many: int) -> Iterator[tuple[str, Node]]:
    made = (herb(number) for number in range(many))
    return ((name, each) for each in (*NODES, *made) for name in names_of(each))


def herb(number: int) -> Node:
    genus, species = divmod(number, 100)
    return Node(f"h{number}", NodeType.HERB, {"la": f"Genus{genus} species{species}", "en": f"herb {number}"})


if __name__ == "__main__":
    main()
