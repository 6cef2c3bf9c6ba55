"""Word documents made for tests."""

import io
import zipfile

import docx


def saved(document):
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def simple(text="Some text."):
    document = docx.Document()
    document.add_paragraph(text)
    return saved(document)


def repacked(content, named):
    """The document with these files of its archive replaced or added."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for each in old.namelist():
            if each not in named:
                new.writestr(each, old.read(each))
        for name, part in named.items():
            new.writestr(name, part)
    return stream.getvalue()


def packed(files):
    """An archive of these files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def file_in(content, name):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read(name).decode()
