"""JATS XML, in which PubMed Central serves articles, to text by sections, with tables. The file is not trusted.

`article.parse` reads it. It is not imported here, since it loads the XML parser.
"""

from bio_mcp.literature.jats.texts import FullText, Licence, Table, TextSection

__all__ = ["FullText", "Licence", "Table", "TextSection"]
