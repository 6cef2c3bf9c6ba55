"""A host on the web: HTTPS on loopback, with a certificate for `papers.example.org`, that answers as its paths say."""

import gzip
import ssl
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "papers.example.org"
REDIRECTS = {
    "/moved": "/a.pdf",
    "/moved-absolute": f"https://{HOST}:PORT/a.pdf",
    "/loop": "/loop",
    "/to-http": f"http://{HOST}:PORT/a.pdf",
    "/to-elsewhere": "https://evil.example/a.pdf",
    "/to-metadata": "https://169.254.169.254/latest/meta-data",
    "/to-inside": "https://inside.example.org:PORT/a.pdf",
    "/to-password": f"https://user:secret@{HOST}:PORT/a.pdf",
    "/to-file": "file:///etc/passwd",
}
STREAMS = {"/endless": lambda: b"x" * 65_536, "/slow": lambda: time.sleep(0.05) or b"x"}


class Answers(BaseHTTPRequestHandler):
    """Answers GET; `seen` has (path, Host header) of each request."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.seen.append((self.path, self.headers["host"], self.headers["accept-encoding"]))
        path = self.path.split("?")[0]
        if path in REDIRECTS:
            to = REDIRECTS[path].replace("PORT", str(self.server.server_port))
            self.answer(302, b"", location=to)
        elif path.startswith("/status/"):
            self.answer(int(path.rpartition("/")[2]), b"no")
        elif path == "/busy-once" and len(self.server.seen) == 1:
            self.answer(503, b"busy")
        elif path == "/shorter":
            self.answer(200, b"short", **{"content-length": "1000"})
            self.close_connection = True
        elif path in STREAMS:
            self.stream(STREAMS[path])
        elif path == "/slow-headers":
            self.drip()
        elif path == "/bomb":
            self.answer(200, gzip.compress(b"\0" * (8 << 20)), **{"content-encoding": "gzip"})
        else:
            self.answer(200, b"%PDF a document")

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def stream(self, piece):
        self.send_response(200)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            while not self.server.ended:
                body = piece()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        except OSError:
            self.close_connection = True

    def drip(self):
        """A header without an end, letter by letter."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nx-long: ")
        try:
            while not self.server.ended:
                time.sleep(0.05)
                self.wfile.write(b"x")
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        """Say nothing."""


def certificate(folder):
    """A certificate of `HOST` and its key, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return folder / "cert.pem", folder / "key.pem"


@contextmanager
def serving(cert, key):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.seen, server.ended = [], False
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended = True
        server.shutdown()
        server.server_close()
