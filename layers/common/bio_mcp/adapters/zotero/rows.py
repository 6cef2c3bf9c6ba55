"""Rows of Zotero's database (its schemas of Zotero 6 to 10) as the objects that its API would give."""

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bio_mcp.adapters.zotero.objects import Data

LINK_MODES = ("imported_file", "imported_url", "linked_file", "linked_url", "embedded_image")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2} (.+)")  # sortable, and as it was typed
_ITEMS = """
    SELECT i.itemID, i.key, i.version, COALESCE(t.typeName, '') AS itemType, i.dateAdded,
           d.itemID IS NOT NULL AS deleted, a.itemID IS NOT NULL AS is_file, a.linkMode, a.contentType, a.path,
           a.storageHash, n.note, m.text, m.comment, m.color, m.pageLabel, m.sortIndex, m.position,
           parent.key AS parentItem
    FROM items i LEFT JOIN itemTypes t USING (itemTypeID)
    LEFT JOIN deletedItems d USING (itemID) LEFT JOIN itemAttachments a USING (itemID)
    LEFT JOIN itemNotes n USING (itemID) LEFT JOIN itemAnnotations m USING (itemID)
    LEFT JOIN items parent ON parent.itemID = COALESCE(a.parentItemID, n.parentItemID, m.parentItemID)
    WHERE i.libraryID = ?
"""
_FIELDS = """
    SELECT itemID, fieldName, value FROM itemData JOIN fieldsCombined USING (fieldID)
    JOIN itemDataValues USING (valueID) JOIN items USING (itemID) WHERE libraryID = ?
"""
_CREATORS = """
    SELECT itemID, creatorType, firstName, lastName, fieldMode FROM itemCreators JOIN creators USING (creatorID)
    JOIN creatorTypes USING (creatorTypeID) JOIN items USING (itemID) WHERE libraryID = ? ORDER BY itemID, orderIndex
"""
_TAGS = "SELECT itemID, name FROM itemTags JOIN tags USING (tagID) JOIN items USING (itemID) WHERE libraryID = ?"
_PLACES = """
    SELECT itemID, collections.key FROM collectionItems JOIN collections USING (collectionID) WHERE libraryID = ?
"""
_COLLECTIONS = """
    SELECT c.key, c.collectionName AS name, parent.key AS parentCollection, {trashed} AS deleted
    FROM collections c LEFT JOIN collections parent ON parent.collectionID = c.parentCollectionID WHERE c.libraryID = ?
"""
_DELETED = """
    SELECT key FROM syncDeleteLog JOIN syncObjectTypes USING (syncObjectTypeID) WHERE libraryID = ? AND name = ?
"""


def items(database: sqlite3.Connection, library: int, citekeys: Mapping[str, str]) -> Iterator[Data]:
    """Every item, attachment, note and annotation of a library. `citekeys` are Better BibTeX's, by key of the item."""
    of_item = {name: _by_item(database.execute(sql, (library,))) for name, sql in _LISTS.items()}
    for row in database.execute(_ITEMS, (library,)):
        lists = {name: rows.get(row["itemID"], []) for name, rows in of_item.items()}
        yield {"betterBibtexKey": citekeys.get(row["key"]), **_data(row, lists)}


_LISTS = {"fields": _FIELDS, "creators": _CREATORS, "tags": _TAGS, "places": _PLACES}


def collections(database: sqlite3.Connection, library: int) -> list[Data]:
    """Every collection of a library."""
    trashed = "c.collectionID IN (SELECT collectionID FROM deletedCollections)"
    sql = _COLLECTIONS.format(trashed=trashed if _has(database, "deletedCollections") else "0")
    return [dict(row) for row in database.execute(sql, (library,))]


def deleted(database: sqlite3.Connection, library: int, kind: str) -> frozenset[str]:
    """The keys that Zotero has noted as deleted since it last synced; `kind` is item or collection."""
    return frozenset(key for (key,) in database.execute(_DELETED, (library, kind)))


def libraries(database: sqlite3.Connection) -> dict[str, int]:
    """The numbers of the libraries by their names in the API, `users/475425` and `groups/2`."""
    account = "SELECT value FROM settings WHERE setting = 'account' AND key = 'userID'"
    user = database.execute(account).fetchone()
    own = database.execute("SELECT libraryID FROM libraries WHERE type = 'user'").fetchone()
    groups = database.execute("SELECT groupID, libraryID FROM groups")
    return {f"users/{user[0] if user else 0}": own[0], **{f"groups/{group}": library for group, library in groups}}


def version(database: sqlite3.Connection, library: int) -> list[int]:
    """The library's versions, that of the server and, from Zotero 10 on, that of this machine."""
    row = database.execute("SELECT * FROM libraries WHERE libraryID = ?", (library,)).fetchone()
    return [row[name] for name in ("version", "clientVersion") if name in row.keys()]  # noqa: SIM118  no mapping


def better_bibtex(database: sqlite3.Connection, library: int) -> dict[str, str]:
    """The citekeys of a database of Better BibTeX's, by key of the item: a table, or before 6.7 a JSON document."""
    if _has(database, "citationkey"):
        found = database.execute("SELECT itemKey, citationKey FROM citationkey WHERE libraryID = ?", (library,))
        return {key: citekey for key, citekey in found if citekey}
    if not _has(database, "better-bibtex"):
        return {}
    row = database.execute("SELECT data FROM \"better-bibtex\" WHERE name = 'better-bibtex.citekey'").fetchone()
    entries = json.loads(row[0])["data"] if row else []
    return {each["itemKey"]: each["citekey"] for each in entries if each.get("libraryID") == library}


def _has(database: sqlite3.Connection, table: str) -> bool:
    return bool(database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone())


def _by_item(rows: Iterable[sqlite3.Row]) -> dict[int, list[sqlite3.Row]]:
    found: defaultdict[int, list[sqlite3.Row]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(row)
    return found


def _data(row: sqlite3.Row, lists: Mapping[str, list[sqlite3.Row]]) -> dict[str, Any]:
    return {
        **{name: row[name] for name in ("key", "version", "itemType", "dateAdded", "deleted", "parentItem", "note")},
        **{each["fieldName"]: _value(each["fieldName"], each["value"]) for each in lists["fields"]},
        "creators": [_creator(each) for each in lists["creators"]],
        "tags": [{"tag": each["name"]} for each in lists["tags"]],
        "collections": [each["key"] for each in lists["places"]],
        **(_file(row) if row["is_file"] else {}),
        **(_mark(row) if row["itemType"] == "annotation" else {}),
    }


def _value(field: str, value: Any) -> str:
    typed = _DATE.fullmatch(str(value)) if field == "date" else None
    return typed[1] if typed else str(value)


def _creator(row: sqlite3.Row) -> dict[str, str]:
    kind = {"creatorType": row["creatorType"]}
    if row["fieldMode"] == 1:
        return {**kind, "name": row["lastName"]}
    return {**kind, "firstName": row["firstName"], "lastName": row["lastName"]}


def _file(row: sqlite3.Row) -> dict[str, Any]:
    path = row["path"] or ""
    stored = path.removeprefix("storage:") if path.startswith("storage:") else None
    return {
        "linkMode": LINK_MODES[row["linkMode"] or 0],
        "contentType": row["contentType"],
        "md5": row["storageHash"],
        **({"filename": stored} if stored else {"path": path}),
    }


def _mark(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "annotationText": row["text"],
        "annotationComment": row["comment"],
        "annotationColor": row["color"],
        "annotationPageLabel": row["pageLabel"],
        "annotationSortIndex": row["sortIndex"],
        "annotationPosition": row["position"],
    }
