"""A port that does something of a test's before or after its calls."""

import sys
from itertools import count


class Hooked:
    """`port`, but that `before` and `after` are called with the arguments of each call of the methods `names`, or of
    all without names; `instead` are attributes and methods in place of its own."""

    def __init__(self, port, *names, before=lambda *_, **__: None, after=lambda *_, **__: None, **instead):
        self.__dict__.update(instead, _port=port, _names=names, _before=before, _after=after)

    def __getattr__(self, name):
        found = getattr(self._port, name)
        if not callable(found) or (self._names and name not in self._names):
            return found

        def call(*given, **more):
            self._before(*given, **more)
            result = found(*given, **more)
            self._after(*given, **more)
            return result

        return call


def at(numbers, do):
    """A hook that does `do` at the calls of these numbers, from 1."""
    counted = count(1)
    return lambda *_, **__: do() if next(counted) in numbers else None


def beyond(calls):
    """The numbers of the calls behind so many."""
    return range(calls + 1, sys.maxsize)


def raising(kind, *given, **more):
    """A hook that raises a failure of this kind, made of what is given."""

    def fail(*_, **__):
        raise kind(*given, **more)

    return fail
