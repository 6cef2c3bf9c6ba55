"""Clients of AWS to which something happens: processes that end in the middle of a write, or are overtaken."""

from tests.support.hooked import Hooked, at, beyond, raising


class Killed(Exception):
    """The process ends here."""


def killed_after(client, calls, *methods):
    """A client that makes so many calls of these methods; the next one ends the process."""
    return Hooked(client, *methods, before=at(beyond(calls), raising(Killed)))


def overtaken(client, meanwhile):
    """A client before whose first transaction something happens."""
    return Hooked(client, "transact_write_items", before=at([1], meanwhile))
