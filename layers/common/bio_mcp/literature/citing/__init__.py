"""Cite a record in the styles of journals and reference managers. Pure: nothing is fetched.

Every style starts from one `Work`, whose fields are CSL's variables. `csl_json` prints that work as it is.
"""

import json
from collections.abc import Callable

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.citing.formats import bibtex, csl_item, ris
from bio_mcp.literature.citing.styles import apa, mla, vancouver
from bio_mcp.literature.citing.works import Work
from bio_mcp.literature.records import Article

_RENDERED: dict[str, Callable[[Work], str]] = {
    "ris": ris,
    "bibtex": bibtex,
    "apa_string": apa,
    "mla_string": mla,
    "vancouver": vancouver,
    "csl_json": lambda work: json.dumps(csl_item(work), ensure_ascii=False, indent=1),
}
STYLES: tuple[str, ...] = tuple(_RENDERED)


def cite(article: Article, style: str) -> str:
    """The article's citation in one of `STYLES`, as plain text. Raises `InvalidInput` for any other style.

    | style | rules |
    |---|---|
    | ris | one tag a line, ended by `ER  - ` |
    | bibtex | one entry, LaTeX-safe, its key stable and unique by PMID |
    | apa_string | APA 7th edition, reference list |
    | mla_string | MLA 9th edition, works-cited list |
    | vancouver | ICMJE sample references and NLM's Citing Medicine: six authors, then et al. |
    | csl_json | one item of CSL-JSON 1.0.2 |
    """
    render = _RENDERED.get(style)
    if render is None:
        raise InvalidInput(f"Unknown citation style. Choose from: {', '.join(STYLES)}.")
    return render(Work(article))
