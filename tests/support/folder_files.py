"""The port `LoadFiles` over a folder, with an MD5 as the tag of each file."""

import hashlib

from bio_mcp.errors import NotFound


def tag_of(content):
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


class FolderFiles:
    def __init__(self, root):
        self.root = root

    def tags(self, folder):
        top = self.root / folder.rstrip("/")
        return {
            str(path.relative_to(top)): tag_of(path.read_bytes()) for path in sorted(top.rglob("*")) if path.is_file()
        }

    def get(self, key):
        try:
            return (self.root / key).read_bytes()
        except FileNotFoundError:
            raise NotFound(key) from None

    def put(self, key, content):
        (self.root / key).parent.mkdir(parents=True, exist_ok=True)
        (self.root / key).write_bytes(content if isinstance(content, bytes) else content.read_bytes())
        return f"load/{key}"

    def download(self, key, into, tag):
        content = self.get(key)
        if tag_of(content) != tag:
            raise NotFound(key)
        into.write_bytes(content)

    def delete(self, key):
        (self.root / key).unlink(missing_ok=True)
