"""Processes that end in the middle of a write."""


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
