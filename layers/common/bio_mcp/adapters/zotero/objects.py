"""Items put together from the objects of Zotero's API: an item, its attachments and notes, and their annotations."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bio_mcp.adapters.zotero import fields
from bio_mcp.literature import identifiers
from bio_mcp.ports.zotero import ZoteroAnnotation, ZoteroAttachment, ZoteroCollection, ZoteroItem, ZoteroNote

Data = Mapping[str, Any]
"""The `data` of an object of the API: its fields by their names there."""
Children = Mapping[str, Sequence[Data]]
AUTHORS = ("author", "editor", "bookAuthor", "inventor", "director", "contributor")  # the first kind that there is


def items_of(objects: Iterable[Data]) -> list[ZoteroItem]:
    """The top-level items among the objects, by key, each with those that hang on it. An object may come twice."""
    children: defaultdict[str, list[Data]] = defaultdict(list)
    tops: list[Data] = []
    for each in {each["key"]: each for each in objects}.values():
        (children[each["parentItem"]] if each.get("parentItem") else tops).append(each)
    return [_item(top, children) for top in sorted(tops, key=lambda top: str(top["key"]))]


def collections_of(objects: Iterable[Data]) -> list[ZoteroCollection]:
    """The collections, by path, without those in the trash and what stands in them."""
    known = {each["key"]: each for each in objects}
    found = [_collection(each, known) for each in known.values()]
    return sorted((each for each in found if each), key=lambda each: (each.path, each.key))


def _collection(data: Data, known: Mapping[str, Data]) -> ZoteroCollection | None:
    path = [str(data["name"])]
    at: Data | None = data
    while at and (parent := at.get("parentCollection")) and len(path) <= len(known):
        at = None if at.get("deleted") else known.get(parent)
        path.append(str(at["name"]) if at else "")
    if at is None or at.get("deleted"):
        return None
    return ZoteroCollection(data["key"], tuple(reversed(path)), data.get("parentCollection") or None)


def _item(data: Data, children: Children) -> ZoteroItem:
    extra = fields.extra_lines(str(data.get("extra") or ""))
    live = _live(data, children)
    own = [data] if data["itemType"] in ("attachment", "note") else []
    return ZoteroItem(
        key=data["key"],
        item_type=data["itemType"],
        title=_title(data),
        creators=_creators(data.get("creators") or ()),
        date=data.get("date") or None,
        year=fields.year(data.get("date")),
        doi=fields.doi(data, extra),
        pmid=fields.normal(identifiers.parse_pmid, data.get("PMID") or extra.get("pmid")),
        pmcid=fields.normal(identifiers.pmcid, data.get("PMCID") or extra.get("pmcid")),
        url=data.get("url") or None,
        citekey=data.get("citationKey") or extra.get("citationkey") or data.get("betterBibtexKey") or None,
        abstract=data.get("abstractNote") or None,
        language=data.get("language") or None,
        tags=tuple(sorted({str(each["tag"]) for each in data.get("tags") or ()})),
        collections=frozenset(data.get("collections") or ()),
        trashed=bool(data.get("deleted")),
        attachments=tuple(_attachment(each, children) for each in own + live if each["itemType"] == "attachment"),
        notes=tuple(_note(each) for each in own + live if each["itemType"] == "note"),
        objects=frozenset({data["key"], *(key for each in live for key in _keys(each, children))}),
    )


def _title(data: Data) -> str | None:
    stated = data.get("title") or data.get("caseName") or data.get("nameOfAct") or data.get("subject")
    return str(stated) if stated and data["itemType"] != "attachment" else None


def _creators(creators: Sequence[Data]) -> tuple[str, ...]:
    for kind in AUTHORS:
        if names := [_name(each) for each in creators if each.get("creatorType") == kind]:
            return tuple(names)
    return tuple(_name(each) for each in creators)


def _name(creator: Data) -> str:
    initials = "".join(part[0] for part in str(creator.get("firstName") or "").replace("-", " ").split())
    return str(creator.get("name") or f"{creator.get('lastName') or ''} {initials}".strip())


def _attachment(data: Data, children: Children) -> ZoteroAttachment:
    marks = _live(data, children, by="annotationSortIndex")
    return ZoteroAttachment(
        key=data["key"],
        name=_file_name(data),
        content_type=data.get("contentType") or "",
        link_mode=data.get("linkMode") or "imported_file",
        md5=data.get("md5") or None,
        path=data.get("path") or None,
        annotations=tuple(_annotation(each) for each in marks if each["itemType"] == "annotation"),
    )


def _file_name(data: Data) -> str:
    path = str(data.get("path") or "").removeprefix("attachments:").replace("\\", "/")
    return str(data.get("filename") or path.rpartition("/")[2] or data.get("title") or data["key"])


def _annotation(data: Data) -> ZoteroAnnotation:
    position = fields.position(data.get("annotationPosition"))
    return ZoteroAnnotation(
        key=data["key"],
        text=data.get("annotationText") or "",
        comment=fields.plain(data.get("annotationComment") or ""),
        page_label=data.get("annotationPageLabel") or None,
        page=fields.page_of(position),
        color=data.get("annotationColor") or None,
        position=position,
    )


def _note(data: Data) -> ZoteroNote:
    return ZoteroNote(data["key"], fields.plain(data.get("note") or ""))


def _live(data: Data, children: Children, by: str = "dateAdded") -> list[Data]:
    """What hangs on an object and is not in the trash, in order."""
    live = [each for each in children.get(data["key"], ()) if not each.get("deleted")]
    return sorted(live, key=lambda each: (str(each.get(by) or ""), str(each["key"])))


def _keys(data: Data, children: Children) -> list[str]:
    return [data["key"], *(each["key"] for each in _live(data, children))]
