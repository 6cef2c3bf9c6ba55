"""Records of the usual shape, read from the bytes of a batch without a tree.

Why this is as safe as a tree: first every character of the batch is one that a text may have, whatever the tags are;
that it is UTF-8 shows where each section is decoded, and what stands between two sections is ASCII.
Then each `<` is accounted for, or the batch is `Irregular` and becomes a tree. A tag of a section is parsed alone and
remembered; its content is read by an expression that names every tag in it, or it is parsed alone, by libxml2, and read
by the reader of its tag in `citations`. Whatever is left over between two expressions is parsed, too, so that no piece
is dropped because it does not fit. Comments, CDATA, character references and carriage returns are left to the tree.
"""

from bio_mcp.literature.medline.regular.fragments import Irregular
from bio_mcp.literature.medline.regular.sections import articles

__all__ = ["Irregular", "articles"]
