"""Records of the local NCBI, one of which gets retracted in a later revision."""

import re

TYPES = '<PublicationTypeList><PublicationType UI="D016441">Retracted Publication</PublicationType>'


def plain_papers(ncbi, many):
    """PMIDs of papers with an abstract of which nothing bad is known."""
    wanted = (str(pmid) for pmid in ncbi.control.pmids() if is_plain(ncbi.control.record(pmid)))
    return [pmid for pmid, _ in zip(wanted, range(many), strict=False)]


def is_plain(xml):
    return "<AbstractText" in xml and not re.search("Retract|Erratum|Concern|Republish|CommentsCorrections", xml)


def retract(ncbi, pmid, day="2025/12/31"):
    """As NLM does it: a later revision has the type."""
    ncbi.control.revise(int(pmid), day, {"<PublicationTypeList>": TYPES})


def doubt(ncbi, pmid, kind, day="2025/12/31"):
    """A later revision names a notice of this `kind`, a RefType, and nothing else."""
    notice = f'<CommentsCorrectionsList><CommentsCorrections RefType="{kind}"><RefSource>J. 2025</RefSource>'
    after = "</MedlineJournalInfo>"
    ncbi.control.revise(int(pmid), day, {after: f"{after}{notice}</CommentsCorrections></CommentsCorrectionsList>"})


def term(pmids):
    return " OR ".join(f"{pmid}[uid]" for pmid in pmids)
