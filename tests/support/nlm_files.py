"""Baseline and update files as NLM publishes them, of real records, and a local server of them with its faults."""

import gzip
import hashlib
import re
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

QUICK = Path(__file__).parents[1] / "data/pubmed/quick600.dev.xml.gz"
RECORD = re.compile(rb"<PubmedArticle>.*?</PubmedArticle>", re.DOTALL)
PMID = re.compile(rb"<PMID[^>]*>(\d+)</PMID>")
REVISED = re.compile(rb"<DateRevised>.*?</DateRevised>", re.DOTALL)
TITLE = re.compile(rb"(<ArticleTitle[^>]*>)")
SET = b'<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n%s\n%s</PubmedArticleSet>\n'


def real_records(many, shift=0, path=QUICK):
    """The XML of so many real records, each of another paper, that say when they were revised; `shift` is added to
    their PMIDs."""
    records = RECORD.findall(gzip.decompress(path.read_bytes()))
    found = {pmid_of(each): each for each in records if REVISED.search(each)}
    return [_shifted(each, pmid, shift) for pmid, each in list(found.items())[:many]]


def _shifted(record, pmid, shift):
    return re.sub(rb">%s<" % pmid.encode(), b">%d<" % (int(pmid) + shift), record)


def pmid_of(record):
    return PMID.search(record)[1].decode()


def revised(record, day, title):
    """The record with this day of September 2026 as that of its revision, and a word before its title."""
    date = b"<DateRevised><Year>2026</Year><Month>09</Month><Day>%02d</Day></DateRevised>" % day
    return TITLE.sub(rb"\g<1>%s " % title.encode(), REVISED.sub(date, record, 1), 1)


def xml_of(records, deleted=()):
    gone = b"<DeleteCitation>%s</DeleteCitation>\n" % b"".join(
        b'<PMID Version="1">%s</PMID>' % each.encode() for each in deleted
    )
    return SET % (b"\n".join(records), gone if deleted else b"")


def history(records, per_file, baseline=14, updates=6):
    """Name -> records and deletions of so many files.

    Update files revise papers of the baseline and of each other, bring new ones, delete, and the last takes a deletion
    back and brings a revision that is older than what an earlier one brought.
    """
    old, new = records[: baseline * per_file], records[baseline * per_file :]
    files = {_name(each): (old[each * per_file : (each + 1) * per_file], ()) for each in range(baseline)}
    for number in range(updates):
        deleted = [pmid_of(each) for each in old[2 + number :: 17]]
        again = [revised(each, 2 + number, f"Update {number}:") for each in old[number :: 5 + number]]
        brought = [each for each in [*again, *new[number::updates]] if pmid_of(each) not in deleted]
        files[_name(baseline + number)] = (brought, deleted)
    last, deleted = files[_name(baseline + updates - 1)]
    more = [revised(old[0], 1, "Older:"), revised(old[2], 28, "Back:")]
    others = [each for each in last if pmid_of(each) not in {pmid_of(old[0]), pmid_of(old[2])}]
    files[_name(baseline + updates - 1)] = ([*others, *more], deleted)
    return files


def _name(number):
    return f"pubmed26n{number + 1:04}.xml.gz"


def write(files, into, baseline=14):
    """Write them into the folders `baseline` and `updatefiles` of `into`, each with its MD5 as NCBI writes it."""
    for number, (name, (records, deleted)) in enumerate(files.items()):
        folder = into / ("baseline" if number < baseline else "updatefiles")
        folder.mkdir(parents=True, exist_ok=True)
        content = gzip.compress(xml_of(records, deleted), 6, mtime=0)
        (folder / name).write_bytes(content)
        (folder / f"{name}.md5").write_text(md5_file_of(name, content))
    return into


def md5_file_of(name, content):
    """What NCBI says of a file."""
    return f"MD5({name})= {hashlib.md5(content, usedforsecurity=False).hexdigest()}\n"


def listing(path, folder):
    """The page of a folder, as NCBI's Apache writes it."""
    links = "".join(f'<a href="{each.name}">{each.name}</a>\n' for each in sorted(folder.glob("*")))
    title = f"Index of /pubmed/{path.rstrip('/')}"
    return (
        f"<html><head><title>{title}</title></head><body><h1>{title}</h1>\n"
        f'<pre>Name Last modified Size <hr><a href="/pubmed/">Parent Directory</a>\n{links}<hr></pre></body></html>\n'
    )


class Served:
    """A running server of `directory`. `damaged` and `cut` count how often a file is still sent with another byte, or
    half; `asked` has what was asked for, with the range; `pages` are answered in place of lists of folders."""

    def __init__(self, directory):
        self.directory, self.asked = directory, []
        self.damaged, self.cut, self.busy = Counter(), Counter(), Counter()
        self.url, self.pages = "", {}

    def answer(self, request):
        path = request.path.removeprefix("/pubmed/")
        start = int((request.headers.get("range") or "bytes=0-")[6:-1])
        self.asked.append((path, start))
        found = self.directory / path
        if self.busy[path] > 0:
            self.busy[path] -= 1
            return request.send_error(503)
        if path.endswith("/"):
            return self._send(request, 200, self.pages.get(path, listing(path, found)).encode())
        if not found.exists():
            return request.send_error(404)
        content = found.read_bytes()
        if start >= len(content):
            return request.send_error(416)
        if self.damaged[path] > 0:
            self.damaged[path] -= 1
            content = bytes([content[0] ^ 1]) + content[1:]
        return self._send(request, 206 if start else 200, content[start:], self._cut(path, len(content) - start))

    def _cut(self, path, whole):
        if self.cut[path] <= 0:
            return whole
        self.cut[path] -= 1
        return whole // 2

    def _send(self, request, status, content, sent=None):
        request.send_response(status)
        request.send_header("content-length", str(len(content)))
        request.end_headers()
        request.wfile.write(content[:sent])
        if sent is not None and sent < len(content):
            request.close_connection = True


@contextmanager
def serving(directory, host="127.0.0.1"):
    served = Served(directory)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            served.answer(self)

        def log_message(self, *_):
            """Nobody reads it."""

    with ThreadingHTTPServer((host, 0), Handler) as server:
        served.url = f"http://{host}:{server.server_port}/pubmed/"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
