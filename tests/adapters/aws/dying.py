"""Clients of AWS to which something happens: processes that end in the middle of a write, or are overtaken."""


class Killed(Exception):
    """The process ends here."""


class Dying:
    def __init__(self, client, after, *methods):
        self._client, self._left, self._methods = client, after, methods

    def __getattr__(self, name):
        method = getattr(self._client, name)
        if name not in self._methods:
            return method

        def call(**arguments):
            if not self._left:
                raise Killed
            self._left -= 1
            return method(**arguments)

        return call


class Instead:
    """A client of which some methods are others, by name."""

    def __init__(self, client, **methods):
        self._client = client
        self.__dict__ |= methods

    def __getattr__(self, name):
        return getattr(self._client, name)


def overtaken(client, meanwhile):
    """A client before whose first transaction something happens."""
    left = [meanwhile]

    def transact(**arguments):
        while left:
            left.pop()()
        return client.transact_write_items(**arguments)

    return Instead(client, transact_write_items=transact)
