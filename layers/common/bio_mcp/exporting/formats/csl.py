"""CSL-JSON with abstract and keywords: one item of the list."""

import json

from bio_mcp.exporting.records import Record
from bio_mcp.literature.citing.csl import item
from bio_mcp.literature.citing.works import work
from bio_mcp.untrusted import neutral


def render(record: Record) -> str:
    """The citation as an item in one line. Keywords are joined by semicolons, since MeSH headings have commas."""
    more = {"abstract": record.abstract, "keyword": "; ".join(record.subjects)}
    whole = item(work(record.article)) | {name: text for name, text in more.items() if text}
    return json.dumps(neutral(whole), ensure_ascii=False)  # before a control is escaped
