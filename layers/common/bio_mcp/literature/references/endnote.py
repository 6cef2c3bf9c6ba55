"""EndNote's XML, as it stands in its fields of Word documents, to references."""

from lxml import etree

from bio_mcp.literature.references.works import CitedWork, work

_ARTICLES = frozenset(("Journal Article", "Electronic Article", "Magazine Article", ""))


def read_endnote(xml: str) -> list[CitedWork]:
    """The cited records; none for what is no XML or declares entities."""
    if "<!" in xml:
        return []
    try:
        root = etree.fromstring(xml.encode(), etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except (etree.XMLSyntaxError, ValueError):
        return []
    return [_work(record) for record in root.iter("record")]


def _work(record: etree._Element) -> CitedWork:
    kind = record.find("ref-type")
    return work(
        title=_text(record, "titles/title"),
        authors=[
            " ".join("".join(map(str, author.itertext())).split())
            for author in record.iterfind("contributors/authors/author")
        ],
        journal=_text(record, "titles/secondary-title") or _text(record, "periodical/full-title"),
        year=_text(record, "dates/year"),
        volume=_text(record, "volume"),
        issue=_text(record, "number"),
        pages=_text(record, "pages"),
        doi=_text(record, "electronic-resource-num"),
        pmid=_text(record, "accession-num"),
        pmcid=_text(record, "custom2"),
        kind="article" if (kind.get("name", "") if kind is not None else "") in _ARTICLES else "other",
        key=_text(record, "rec-number"),
    )


def _text(record: etree._Element, path: str) -> str:
    found = record.find(path)
    return " ".join("".join(map(str, found.itertext())).split()) if found is not None else ""
