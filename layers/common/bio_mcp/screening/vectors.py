"""The vectors of a review's papers, beside their words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bio_mcp.errors import IndexUnavailable
from bio_mcp.literature.identifiers import is_pmid
from bio_mcp.ports import Backends
from bio_mcp.ports.screening import ReviewRecord

MOST = 5_000  # papers whose vectors are read for a ranking; beyond, words alone tell


def vectors_of(records: Sequence[ReviewRecord], backends: Backends) -> tuple[dict[str, NDArray[np.float32]], list[str]]:
    """Return the vectors of the papers that the index has, and a warning where it cannot be read."""
    pmids = [each.record_id for each in records if is_pmid(each.record_id)]
    if len(pmids) > MOST:
        return {}, []
    try:
        return backends.passages.document_vectors(pmids), []
    except IndexUnavailable as failure:
        return {}, [f"The papers are ranked by their words alone, as the index cannot be read: {failure}"]
