"""A reader for child processes that does what the file says: read, hang, crash, eat memory, or chatter."""

import ctypes
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from bio_mcp.errors import UnreadableDocument
from bio_mcp.literature.documents import ParsedDocument, ParsedSection


def read(content, name, options):
    command, _, argument = content.decode().partition(" ")
    return globals()[f"_{command}"](argument, options)


def _text(text):
    return ParsedDocument((ParsedSection(text),))


def _hang(argument, options):
    if argument:  # is told where to write who hangs
        program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(argument).write_text(f"{os.getpid()} {program.pid}")
    time.sleep(600)


def _progress(argument, options):
    for _ in range(int(argument)):
        time.sleep(0.6)
        options.advance()
    return _text("done")


def _eat(argument, options):
    eaten = []
    while True:
        eaten.append(bytearray(16 << 20))


def _eat_and_hide(argument, options):
    eaten = bytearray(int(argument) << 20)
    time.sleep(600)
    return _text(str(len(eaten)))


def _take(argument, options):
    bytearray(int(argument) << 20).count(1)
    return _text("taken")


def _refuse(argument, options):
    raise UnreadableDocument(argument)


def _raise(argument, options):
    raise ValueError("/home/ada/secret.pdf")


def _recurse(argument, options):
    return _recurse(argument, options)


def _chatter(argument, options):
    print("{}")
    os.write(1, b"not JSON\n")
    return _text("read")


def _odd(argument, options):
    return ParsedDocument((ParsedSection("text", pages_of := 3, ("path",)),), pages="three", title=pages_of)


def _read(argument, options):
    return _text(argument)


def _pid(argument, options):
    return _text(str(os.getpid()))


def _environment(argument, options):
    return _text(json.dumps(dict(os.environ)))


def _options(argument, options):
    return _text(f"{options.languages} {options.most_pages} {options.tesseract}")


def _segfault(argument, options):
    return ctypes.string_at(1)


def _abort(argument, options):
    return os.abort()


def _leave(argument, options):
    return os._exit(3)


def _exit(argument, options):
    return sys.exit(4)


def _missing(argument, options):
    return __import__("no_such_library")
