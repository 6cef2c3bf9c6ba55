"""JATS XML, as PubMed Central serves articles -> text by sections, with tables. Trusts nothing in the file.

`article.parse` reads it; it is not imported here, since it loads the XML parser.
"""

from bio_mcp.literature.jats.texts import FullText, Licence, Table, TextSection

__all__ = ["FullText", "Licence", "Table", "TextSection"]
