"""The data directory of a Zotero that holds a library: zotero.sqlite with the tables that matter here, and storage.

Tables and columns are those of Zotero 7 (schema 123). `synced`: the versions are those of the server, else all is 0 and
what was deleted stands in the log, as in a Zotero that was never synced.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.zotero_server.library import Data, Library

LINK_MODES = ["imported_file", "imported_url", "linked_file", "linked_url", "embedded_image"]
ANNOTATIONS = ["", "highlight", "note", "image", "ink", "underline", "text"]
NOT_FIELDS = {
    *("key", "version", "itemType", "dateAdded", "dateModified", "tags", "collections", "creators", "parentItem"),
    *("deleted", "linkMode", "contentType", "filename", "path", "md5", "note", "relations"),
}
USER, MINE, OTHER = 475425, 1, 2
SCHEMA = """
PRAGMA synchronous = OFF;
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT, templateItemTypeID INT, display INT DEFAULT 1);
CREATE TABLE fieldsCombined (fieldID INT NOT NULL, fieldName TEXT NOT NULL, label TEXT, fieldFormatID INT,
    custom INT NOT NULL, PRIMARY KEY (fieldID));
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE settings (setting TEXT, key TEXT, value, PRIMARY KEY (setting, key));
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL, editable INT NOT NULL,
    filesEditable INT NOT NULL, version INT NOT NULL DEFAULT 0, storageVersion INT NOT NULL DEFAULT 0,
    lastSync INT NOT NULL DEFAULT 0, archived INT NOT NULL DEFAULT 0);
CREATE TABLE groups (groupID INTEGER PRIMARY KEY, libraryID INT NOT NULL UNIQUE, name TEXT NOT NULL,
    description TEXT NOT NULL, version INT NOT NULL);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT NOT NULL, dateAdded TIMESTAMP NOT NULL,
    dateModified TIMESTAMP NOT NULL, clientDateModified TIMESTAMP NOT NULL, libraryID INT NOT NULL, key TEXT NOT NULL,
    version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0, UNIQUE (libraryID, key));
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value UNIQUE);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID, PRIMARY KEY (itemID, fieldID));
CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY, parentItemID INT, note TEXT, title TEXT);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, linkMode INT, contentType TEXT,
    charsetID INT, path TEXT, syncState INT DEFAULT 0, storageModTime INT, storageHash TEXT,
    lastProcessedModificationTime INT);
CREATE TABLE itemAnnotations (itemID INTEGER PRIMARY KEY, parentItemID INT NOT NULL, type INTEGER NOT NULL,
    authorName TEXT, text TEXT, comment TEXT, color TEXT, pageLabel TEXT, sortIndex TEXT NOT NULL,
    position TEXT NOT NULL, isExternal INT NOT NULL);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE itemTags (itemID INT NOT NULL, tagID INT NOT NULL, type INT NOT NULL, PRIMARY KEY (itemID, tagID));
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT,
    UNIQUE (lastName, firstName, fieldMode));
CREATE TABLE itemCreators (itemID INT NOT NULL, creatorID INT NOT NULL, creatorTypeID INT NOT NULL DEFAULT 1,
    orderIndex INT NOT NULL DEFAULT 0, PRIMARY KEY (itemID, creatorID, creatorTypeID, orderIndex));
CREATE TABLE collections (collectionID INTEGER PRIMARY KEY, collectionName TEXT NOT NULL,
    parentCollectionID INT DEFAULT NULL, clientDateModified TIMESTAMP, libraryID INT NOT NULL, key TEXT NOT NULL,
    version INT NOT NULL DEFAULT 0, synced INT NOT NULL DEFAULT 0, UNIQUE (libraryID, key));
CREATE TABLE collectionItems (collectionID INT NOT NULL, itemID INT NOT NULL, orderIndex INT NOT NULL DEFAULT 0,
    PRIMARY KEY (collectionID, itemID));
CREATE TABLE deletedItems (itemID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
CREATE TABLE deletedCollections (collectionID INTEGER PRIMARY KEY, dateDeleted DEFAULT CURRENT_TIMESTAMP NOT NULL);
CREATE TABLE syncObjectTypes (syncObjectTypeID INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE syncDeleteLog (syncObjectTypeID INT NOT NULL, libraryID INT NOT NULL, key TEXT NOT NULL,
    dateDeleted TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, UNIQUE (syncObjectTypeID, libraryID, key));
INSERT INTO syncObjectTypes VALUES (1, 'collection'), (3, 'item');
INSERT INTO settings VALUES ('account', 'userID', 475425);
"""


def write(library: Library, folder: Path, *, synced: bool = True) -> Path:
    """Make the data directory hold the library as it is now; returns the database."""
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / "new.sqlite"
    new.unlink(missing_ok=True)
    with closing(sqlite3.connect(new)) as database, database:
        _Writer(database, library, synced=synced).write()
    write_files(library, folder)
    return new.rename(folder / "zotero.sqlite")


def write_files(library: Library, folder: Path) -> None:
    """Make `storage` hold the files of the library."""
    for key, content in library.files.items():
        if key in library.items:
            (folder / "storage" / key).mkdir(parents=True, exist_ok=True)
            (folder / "storage" / key / library.items[key]["filename"]).write_bytes(content)


def write_better_bibtex(folder: Path, citekeys: dict[str, str], *, as_json: bool = False) -> None:
    """The database of Better BibTeX: a table, or the JSON document that it was before 6.7."""
    path = folder / "better-bibtex.sqlite"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        if as_json:
            entries = [{"itemKey": key, "libraryID": MINE, "citekey": each} for key, each in citekeys.items()]
            database.execute('CREATE TABLE "better-bibtex" (name TEXT PRIMARY KEY, data TEXT NOT NULL)')
            row = ("better-bibtex.citekey", json.dumps({"data": entries}))
            database.execute('INSERT INTO "better-bibtex" VALUES (?, ?)', row)
        else:
            database.execute("CREATE TABLE citationkey (itemID, itemKey, libraryID, citationKey, pinned)")
            rows = [(number, key, MINE, each, 0) for number, (key, each) in enumerate(citekeys.items())]
            database.executemany("INSERT INTO citationkey VALUES (?, ?, ?, ?, ?)", rows)


class _Writer:
    def __init__(self, database: sqlite3.Connection, library: Library, *, synced: bool) -> None:
        self.database, self.library, self.synced = database, library, synced
        self.numbers = {key: number for number, key in enumerate([*library.items, *library.collections], 1)}

    def write(self) -> None:
        self.database.executescript(SCHEMA)
        self._libraries()
        for each in self.library.collections.values():
            self._collection(each)
        for each in self.library.items.values():
            self._item(each)
        if not self.synced:
            log = "INSERT INTO syncDeleteLog (syncObjectTypeID, libraryID, key) VALUES (?, ?, ?)"
            for number, kind in ((1, "collections"), (3, "items")):
                self.database.executemany(log, [(number, MINE, key) for key in self.library.deleted[kind]])

    def _libraries(self) -> None:
        version = self.library.version if self.synced else 0
        added = "INSERT INTO libraries (libraryID, type, editable, filesEditable, version) VALUES (?, ?, 1, 1, ?)"
        self.database.executemany(added, [(MINE, "user", version), (OTHER, "group", 1)])
        self.database.execute("INSERT INTO groups VALUES (2, ?, 'Lab', '', 1)", (OTHER,))
        self.database.execute("INSERT INTO itemTypes (typeName) VALUES ('journalArticle')")
        row = (1_000_000, 1, "", "", "", OTHER, "GROUPITM")
        self.database.execute(
            "INSERT INTO items (itemID, itemTypeID, dateAdded, dateModified, clientDateModified, libraryID, key)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            row,
        )

    def _collection(self, data: Data) -> None:
        number = self.numbers[data["key"]]
        parent = self.numbers[data["parentCollection"]] if data["parentCollection"] else None
        self.database.execute(
            "INSERT INTO collections (collectionID, collectionName, parentCollectionID, libraryID, key)"
            " VALUES (?, ?, ?, ?, ?)",
            (number, data["name"], parent, MINE, data["key"]),
        )
        if data.get("deleted"):
            self.database.execute("INSERT INTO deletedCollections (collectionID) VALUES (?)", (number,))

    def _item(self, data: Data) -> None:
        number, version = self.numbers[data["key"]], data["version"] if self.synced else 0
        kind = self._named("itemTypes", "itemTypeID", "typeName", data["itemType"])
        added = data["dateAdded"]
        self.database.execute(
            "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, kind, added, added, added, MINE, data["key"], version, int(self.synced)),
        )
        if data.get("deleted"):
            self.database.execute("INSERT INTO deletedItems (itemID) VALUES (?)", (number,))
        getattr(self, f"_{data['itemType']}", lambda *_: None)(number, data)
        self._fields(number, data)
        for order, each in enumerate(data.get("creators", ())):
            self._creator(number, order, each)
        for each in data.get("tags", ()):
            tag = self._named("tags", "tagID", "name", each["tag"])
            self.database.execute("INSERT INTO itemTags VALUES (?, ?, 0)", (number, tag))
        for each in data.get("collections", ()):
            row = (self.numbers[each], number)
            self.database.execute("INSERT INTO collectionItems (collectionID, itemID) VALUES (?, ?)", row)

    def _fields(self, number: int, data: Data) -> None:
        for name, value in data.items():
            if name in NOT_FIELDS or name.startswith("annotation"):
                continue
            field = self.database.execute("SELECT fieldID FROM fieldsCombined WHERE fieldName = ?", (name,)).fetchone()
            field = field[0] if field else self._field(name)
            stored = f"2019-00-00 {value}" if name == "date" else value
            row = (number, field, self._named("itemDataValues", "valueID", "value", stored))
            self.database.execute("INSERT INTO itemData VALUES (?, ?, ?)", row)

    def _field(self, name: str) -> int:
        [number] = self.database.execute("SELECT count(*) + 1 FROM fieldsCombined").fetchone()
        self.database.execute("INSERT INTO fieldsCombined VALUES (?, ?, NULL, NULL, 0)", (number, name))
        return int(number)

    def _creator(self, number: int, order: int, creator: Data) -> None:
        names = creator.get("firstName", ""), creator.get("lastName", creator.get("name")), int("name" in creator)
        self.database.execute("INSERT OR IGNORE INTO creators (firstName, lastName, fieldMode) VALUES (?, ?, ?)", names)
        sql = "SELECT creatorID FROM creators WHERE (firstName, lastName, fieldMode) = (?, ?, ?)"
        [person] = self.database.execute(sql, names).fetchone()
        kind = self._named("creatorTypes", "creatorTypeID", "creatorType", creator["creatorType"])
        self.database.execute("INSERT INTO itemCreators VALUES (?, ?, ?, ?)", (number, person, kind, order))

    def _attachment(self, number: int, data: Data) -> None:
        path = data.get("path") or f"storage:{data['filename']}"
        mode = LINK_MODES.index(data["linkMode"])
        self.database.execute(
            "INSERT INTO itemAttachments (itemID, parentItemID, linkMode, contentType, path, storageHash)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (number, self._parent(data), mode, data["contentType"], path, data.get("md5")),
        )

    def _note(self, number: int, data: Data) -> None:
        row = (number, self._parent(data), data["note"], "")
        self.database.execute("INSERT INTO itemNotes VALUES (?, ?, ?, ?)", row)

    def _annotation(self, number: int, data: Data) -> None:
        given = [data.get(f"annotation{name}") for name in ("Text", "Comment", "Color", "PageLabel", "SortIndex")]
        kind = ANNOTATIONS.index(data["annotationType"])
        row = (number, self._parent(data), kind, None, *given, data["annotationPosition"], 0)
        self.database.execute("INSERT INTO itemAnnotations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _parent(self, data: Data) -> int | None:
        return self.numbers.get(data.get("parentItem", ""))

    def _named(self, table: str, number: str, name: str, value: str) -> int:
        """The number of the row that has this name, which is added if there is none."""
        sought, added = f"SELECT {number} FROM {table} WHERE {name} = ?", f"INSERT INTO {table} ({name}) VALUES (?)"  # noqa: S608  names of ours
        found = self.database.execute(sought, (value,)).fetchone()
        return int(found[0] if found else self.database.execute(added, (value,)).lastrowid)
