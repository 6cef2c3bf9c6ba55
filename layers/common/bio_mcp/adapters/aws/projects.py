"""Projects, their documents and screenings, in DynamoDB tables."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from typing import Any

from bio_mcp.adapters.aws.table import BODY, KEY, DynamoStore, in_parallel, item_key
from bio_mcp.adapters.stored import (
    from_row,
    label_order,
    labels_of,
    merges_of,
    plan_of,
    plan_row,
    record_of,
    review_row,
    searches_of,
    to_row,
)
from bio_mcp.ports.projects import Project, ProjectDocument
from bio_mcp.ports.stores import (
    ReviewMerge,
    ReviewPlan,
    ReviewRecord,
    ReviewSearch,
    ReviewThing,
    ScreeningLabel,
)
from bio_mcp.retrieval.project_chunks import unknown_project


class DynamoProjects(DynamoStore):
    """The port `Projects` over one table (key: project_id). Listing scans it: its items are few and small."""

    WHAT = "projects"

    def get(self, project_id: str) -> Project:
        item = self._table.get_item({"project_id": project_id})
        if item is None:
            raise unknown_project(project_id, (each.project_id for each in self.all()))
        return Project(**item)

    def put(self, project: Project) -> None:
        self._table.put_item(asdict(project))

    def all(self) -> list[Project]:
        projects = [Project(**item) for item in self._table.scan()]
        return sorted(projects, key=lambda project: project.project_id)

    def delete(self, project_id: str) -> bool:
        return self._table.delete_item({"project_id": project_id})


DOCUMENT, IDENTIFIER, CURSOR = "document", "identifier", "cursor"
MAX_NAME = 900  # bytes of a name in a key, which may have 1,024; a longer one is hashed
Stored = dict[str, tuple[dict[str, Any], list[str]]]  # documents' rows, with the identifiers that they list, by id


class DynamoProjectDocuments(DynamoStore):
    """The port `ProjectDocuments` over one table (key: project_id, item) and, for large documents, a bucket."""

    WHAT = "documents of projects"
    FOLDER = "project-documents"

    def find(self, project_id: str, identifiers: Sequence[str]) -> list[ProjectDocument]:
        owners = self._owners(project_id, identifiers)
        stored = self._stored(project_id, owners.values())
        names = {name for _, listed in stored.values() for name in listed}
        owners |= self._owners(project_id, names - owners.keys())
        asked = set(identifiers)
        return [each for each in _documents(stored, owners) if each.identifiers & asked]

    def put(self, project_id: str, document: ProjectDocument) -> None:
        identifiers = sorted(document.identifiers)
        named = [{**_key(project_id, IDENTIFIER, each), "doc_id": document.doc_id} for each in identifiers]
        body = self._contents.packed({"row": to_row(document), "identifiers": identifiers})
        self._table.put_item({**_key(project_id, DOCUMENT, document.doc_id), **body})
        self._table.batch_write_items(named)

    def delete(self, project_id: str, doc_ids: Sequence[str]) -> None:
        """Delete the identifiers, then the documents: what was killed in between is repeated whole."""
        stored = self._stored(project_id, doc_ids)
        delete = self._table.delete_item  # an identifier unless it names another document
        in_parallel(
            [
                partial(delete, _key(project_id, IDENTIFIER, name), "#doc_id = :doc_id", doc_id=doc_id)
                for doc_id, (_, names) in stored.items()
                for name in names
            ],
            writing=True,
        )
        self._table.batch_write_items(deletes=[_key(project_id, DOCUMENT, each) for each in stored])

    def all(self, project_id: str) -> list[ProjectDocument]:
        stored: Stored = {}
        owners: dict[str, str] = {}
        for item in self._table.query("#project_id = :project", project=project_id):
            if "doc_id" in item:
                owners[item["item"]] = item["doc_id"]
            elif item["item"].startswith(DOCUMENT):
                body = self._contents.row(item)
                stored[body["row"]["work"]["doc_id"]] = body["row"], body["identifiers"]
        named = {each: _name(IDENTIFIER, each) for _, listed in stored.values() for each in listed}
        by_name = {each: owners[name] for each, name in named.items() if name in owners}
        return _documents(stored, by_name)

    def cursor(self, project_id: str, library: str) -> dict[str, Any]:
        item = self._table.get_item(_key(project_id, CURSOR, library))
        return self._contents.row(item) if item else {}

    def put_cursor(self, project_id: str, library: str, cursor: Mapping[str, Any]) -> None:
        self._table.put_item({**_key(project_id, CURSOR, library), **self._contents.packed(dict(cursor))})

    def drop(self, project_id: str) -> None:
        keys = self._table.query("#project_id = :project", names=("project_id", "item"), project=project_id)
        self._table.batch_write_items(deletes=list(keys))

    def _stored(self, project_id: str, doc_ids: Iterable[str]) -> Stored:
        """Those documents that exist."""
        keys = [_key(project_id, DOCUMENT, each) for each in dict.fromkeys(doc_ids)]
        bodies = [self._contents.row(item) for item in self._table.batch_get_items(keys, (BODY, KEY))]
        return {each["row"]["work"]["doc_id"]: (each["row"], each["identifiers"]) for each in bodies}

    def _owners(self, project_id: str, identifiers: Iterable[str]) -> dict[str, str]:
        """The ids of the documents that the identifiers name."""
        named = {_name(IDENTIFIER, each): each for each in identifiers}
        keys = [{"project_id": project_id, "item": name} for name in named]
        found = self._table.batch_get_items(keys, ("item", "doc_id"))
        return {named[item["item"]]: item["doc_id"] for item in found}


def _documents(stored: Stored, owners: Mapping[str, str]) -> list[ProjectDocument]:
    """In the order of their ids, each with the identifiers that it lists and owns."""
    return [
        from_row(row, (each for each in listed if owners.get(each) == doc_id))
        for doc_id, (row, listed) in sorted(stored.items())
    ]


def _key(project_id: str, kind: str, name: str) -> dict[str, Any]:
    return {"project_id": project_id, "item": _name(kind, name)}


def _name(kind: str, name: str) -> str:
    """What an item is called in its partition: nothing of one kind is called as something of another."""
    encoded = name.encode()
    return f"{kind} {name}" if len(encoded) <= MAX_NAME else f"{kind}-hash {sha256(encoded).hexdigest()}"


RECORD, LABEL, SEARCH, MERGE, NUMBER = "record ", "label ", "search ", "merge ", "number"
PLANS = ":plans"  # the partition of the plans of all reviews, whose name none of these can have
LATER: Mapping[str, frozenset[str]] = {
    RECORD: frozenset("pmid authors journal volume issue pages keywords preprint".split()),
    LABEL: frozenset({"resolves"}),
    SEARCH: frozenset({"source"}),
    MERGE: frozenset(),
}
"""By what an item begins: fields that its body must not have, since earlier versions read it; they are in `more`."""


class DynamoScreenings(DynamoStore):
    """The port `Screenings` over one table (key: name, item) and, for searches that found much, a bucket."""

    WHAT = "reviews"
    FOLDER = "reviews"

    def plan(self, review: str) -> ReviewPlan | None:
        item = self._table.get_item(item_key(PLANS, review))
        return plan_of(json.loads(item["plan"])) if item else None

    def put_plan(self, review: str, plan: ReviewPlan) -> None:
        self._table.put_item({**item_key(PLANS, review), "plan": json.dumps(plan_row(plan))})

    def reviews(self) -> dict[str, ReviewPlan]:
        return {item["item"]: plan_of(json.loads(item["plan"])) for item in self._table.partition(PLANS)}

    def put(self, review: str, things: Sequence[ReviewThing]) -> None:
        last = self._table.next_number(item_key(review, NUMBER), len(things))
        self._table.batch_write_items(
            [self._item(review, each, number) for number, each in enumerate(things, last - len(things) + 1)]
        )

    def records(self, review: str) -> list[ReviewRecord]:
        records = [record_of(row) for _, row in self._rows(review, RECORD)]
        return sorted(records, key=lambda each: each.record_id)

    def remove_labels(self, review: str, labels: Sequence[ScreeningLabel]) -> None:
        """Also those under the key that earlier versions gave a label, whosever it was."""
        gone = {(each.record_id, each.stage, each.whose) for each in labels}
        keys = [key for key, each in self._labels(review) if (each.record_id, each.stage, each.whose) in gone]
        self._table.batch_write_items(deletes=keys)

    def labels(self, review: str) -> list[ScreeningLabel]:
        newest = {(each.record_id, each.stage, each.whose): each for _, each in self._labels(review)}
        return list(newest.values())

    def searches(self, review: str) -> list[ReviewSearch]:
        return searches_of(row for _, row in self._rows(review, SEARCH))

    def merges(self, review: str) -> list[ReviewMerge]:
        return merges_of(row for _, row in self._rows(review, MERGE))

    def remove_merge(self, review: str, merge_id: str) -> None:
        self._table.batch_write_items(deletes=[_screening_key(review, MERGE + merge_id)])

    def drop(self, review: str) -> None:
        keys = list(self._table.partition(review, names=("name", "item")))
        self._table.batch_write_items(deletes=[*keys, item_key(PLANS, review)])

    def _item(self, review: str, thing: ReviewThing, number: int) -> dict[str, Any]:
        kind, name = _named(thing)
        row = review_row(thing, number)
        more = {field: value for field, value in row.items() if field in LATER[kind] and value}
        body = {field: value for field, value in row.items() if field not in LATER[kind]}
        item = _screening_key(review, kind + name) | self._contents.packed(body)
        return item | ({"more": json.dumps(more)} if more else {})

    def _rows(self, review: str, kind: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Key and row of each item."""
        for item in self._table.partition(review, begins=kind):
            row = self._contents.row(item) | json.loads(item.get("more", "{}"))
            yield item_key(item["name"], item["item"]), row

    def _labels(self, review: str) -> list[tuple[dict[str, Any], ScreeningLabel]]:
        """Key and label of each item, in the order of the labels."""
        found = [(key, label) for key, row in self._rows(review, LABEL) for label in labels_of([row])]
        return sorted(found, key=lambda each: label_order(each[1]))


def _named(thing: ReviewThing) -> tuple[str, str]:
    """By what the item of a thing begins, and how it goes on."""
    match thing:
        case ReviewRecord():
            return RECORD, thing.record_id
        case ScreeningLabel():
            whose = f"\t{thing.whose}" if thing.whose else ""  # earlier versions have one label of a record and stage
            return LABEL, f"{thing.stage} {thing.record_id}{whose}"
        case ReviewMerge():
            return MERGE, thing.merge_id
    return SEARCH, thing.search_id


def _screening_key(review: str, item: str) -> dict[str, Any]:
    """The key of an item, whose record may have a DOI longer than a key may be."""
    encoded = item.encode()
    kind = item.partition(" ")[0]
    return item_key(review, item if len(encoded) <= 1_000 else f"{kind} hash {sha256(encoded).hexdigest()}")
