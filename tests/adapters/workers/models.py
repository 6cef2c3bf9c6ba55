"""Models for worker processes, each made in the process; some titles end it, or fail."""

import os
import signal
import time
from functools import partial

from bio_mcp.errors import EmbeddingFailed, Misconfigured
from tests.support.hashed_words import HashedWords


class Fragile(HashedWords):
    """Is killed, exits or fails as the word in a text says; `deadly once` kills the first process that reads it,
    and `endless once` keeps it busy."""

    def __init__(self, marks=None):
        super().__init__()
        self.marks = marks

    def embed(self, texts):
        text = " ".join(texts)
        if "deadly once" in text and self.first():
            os.kill(os.getpid(), signal.SIGKILL)
        if "endless once" in text and self.first():
            time.sleep(60)
        if "deadly always" in text:
            raise ZeroDivisionError("a bug")
        if "refused" in text:
            raise EmbeddingFailed("The embedding model failed on this text.")
        return super().embed(texts)

    def first(self):
        try:
            (self.marks / "seen").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class Broken(HashedWords):
    def embed(self, _texts):
        raise EmbeddingFailed("The service is away.")


class Ending(HashedWords):
    def embed(self, _texts):
        os._exit(3)


class Starting(HashedWords):
    def __init__(self, marks):
        super().__init__()
        if Fragile(marks).first():
            os.kill(os.getpid(), signal.SIGKILL)


def starting(marks):
    return partial(Starting, marks)


def missing():
    raise Misconfigured("There is no model.")


def exchanged():
    model = HashedWords()
    model.fingerprint = "another"
    return model


def fragile(marks):
    return partial(Fragile, marks)
