"""A paper that was revised twice, the second time retracted."""

from dataclasses import replace

from bio_mcp.literature.records import Correction, RetractionStatus
from tests.support.memory_corpus import article

FIRST = replace(article("7", "Statins and falls", "Falls were rare among all of them."), doi="10.1000/x", pmcid="PMC7")
SECOND = replace(FIRST, title="Statins and falls.", pmid_version=2)
THIRD = replace(
    SECOND,
    pmid_version=3,
    abstract=article("7", "", "Falls were common among all of them.").abstract,
    retraction=RetractionStatus.RETRACTED,
    corrections=(Correction("RetractionIn", "J Test. 2021;1:1", "8"), Correction("CommentIn", "J Test.", "6")),
)
VERSIONS = (FIRST, SECOND, THIRD)
