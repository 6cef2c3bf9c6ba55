"""Make the bundled sample graph of rows of Dr. Duke's databases.

    python scripts/make_graph_sample.py DUKE.json

English and Thai names of common plants are ours, as the rows have Latin names alone. The same rows give the same
sample, byte for byte.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.nodes import Edge, Node, NodeType, merge_edges, merge_nodes, to_record
from bio_mcp.ingesting.graph_import import node_id, read_items

INTO = Path(__file__).resolve().parent.parent / "layers/common/bio_mcp/samples/graph.jsonl.gz"
OURS = "bio-mcp (the English and Thai names)"
NAMES = """
Acorus calamus | Sweet flag | ว่านน้ำ
Ageratum conyzoides | Goatweed | สาบแร้งสาบกา
Allium cepa | Onion | หอมใหญ่
Allium sativum var. sativum | Garlic | กระเทียม
Anethum graveolens | Dill | ผักชีลาว
Apium graveolens | Celery | ขึ้นฉ่าย
Camellia sinensis | Tea | ชา
Cannabis sativa | Cannabis | กัญชา
Carica papaya | Papaya | มะละกอ
Carthamus tinctorius | Safflower | คำฝอย
Centella asiatica | Gotu kola | บัวบก
Citrullus lanatus | Watermelon | แตงโม
Cocos nucifera | Coconut | มะพร้าว
Coriandrum sativum | Coriander | ผักชี
Crocus sativus | Saffron | หญ้าฝรั่น
Curcuma longa | Turmeric | ขมิ้นชัน
Cymbopogon nardus | Citronella | ตะไคร้หอม
Glycine max | Soybean | ถั่วเหลือง
Glycyrrhiza glabra | Liquorice | ชะเอมเทศ
Illicium verum | Star anise | โป๊ยกั๊ก
Momordica charantia | Bitter melon | มะระ
Moringa oleifera | Moringa | มะรุม
Morus alba | White mulberry | หม่อน
Myristica fragrans | Nutmeg | จันทน์เทศ
Ocimum basilicum | Sweet basil | โหระพา
Ocimum tenuiflorum | Holy basil | กะเพรา
Panax ginseng | Asian ginseng | โสม
Passiflora edulis | Passion fruit | เสาวรส
Phyllanthus emblica | Indian gooseberry | มะขามป้อม
Piper nigrum | Black pepper | พริกไทย
Psidium guajava | Guava | ฝรั่ง
Punica granatum | Pomegranate | ทับทิม
Senna alexandrina | Senna | มะขามแขก
Sesamum indicum | Sesame | งา
Solanum tuberosum | Potato | มันฝรั่ง
Tagetes erecta | Marigold | ดาวเรือง
Vigna radiata | Mung bean | ถั่วเขียว
Vitis vinifera | Grape | องุ่น
Zea mays | Maize | ข้าวโพด
Zingiber officinale | Ginger | ขิง
"""


def named() -> Iterator[Node]:
    """The plants that have English and Thai names."""
    for line in NAMES.strip().splitlines():
        latin, english, thai = (each.strip() for each in line.split("|"))
        yield Node(node_id("plant", latin), NodeType.HERB, {"en": english, "th": thai}, sources=(OURS,))


def records(path: Path) -> list[Node | Edge]:
    """Every node, then every edge, each once. Raises `InvalidInput` for a row that is none."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str, str], Edge] = {}
    for _, item in read_items(path):
        if isinstance(item, InvalidInput):
            raise item
        if isinstance(item, Node):
            nodes[item.node_id] = merge_nodes(nodes.get(item.node_id), item)
        else:
            edges[item.key] = merge_edges(edges.get(item.key), item)
    for each in named():
        nodes[each.node_id] = merge_nodes(nodes[each.node_id], each)
    return [*(nodes[each] for each in sorted(nodes)), *(edges[each] for each in sorted(edges))]


def main(path: Path) -> None:
    """Write the sample."""
    lines = [json.dumps(to_record(each), ensure_ascii=False) for each in records(path)]
    INTO.write_bytes(gzip.compress("\n".join([*lines, ""]).encode(), mtime=0))
    print(f"{len(lines)} lines, {INTO.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
