"""Where a bulk load keeps what: the names of its files, in one folder of the bucket.

`files/` has NLM's files, each with its `.md5` beside it, by whoever put them there. What is derived of one carries the
tag of its content in its name, so that another file of that name is another file.
"""

from collections.abc import Iterable, Mapping

from bio_mcp.literature.pubmed_files import in_order

FILES, LISTS, DONE = "files", "lists", "done"
DAMAGED = "damaged"  # marks of files that have another MD5 than the one beside them
MD5 = ".md5"


def tagged(name: str, tag: str) -> str:
    """The name of what is derived of the file `name` with this tag."""
    return f"{name}@{tag}"


def name_of(derived: str) -> str:
    """The name of the file of which this is derived."""
    return derived.partition("@")[0]


def listed(lists: Iterable[str], files: Mapping[str, str]) -> dict[str, str]:
    """The listing of each file that has one, by its name, in the order of files.

    A file that was taken away is still listed, as what it said still holds.
    """
    valid = {
        name_of(each): each for each in sorted(lists) if files.get(name_of(each)) in (None, each.partition("@")[2])
    }
    return {name: valid[name] for name in in_order(valid)}


def of_run(run: str, folder: str) -> str:
    """A folder of a run."""
    return f"runs/{run}/{folder}"
