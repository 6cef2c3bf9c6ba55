"""pubmed.sync_delta: bring the corpus up to what PubMed has for a query, losing nothing on the way.

A run is a job with a cursor. The cursor holds the segments still to be listed, the PMIDs of the one being fetched
and the counts so far; it is saved after each batch has become durable, so a run that is killed anywhere is taken up
by the next one. The checkpoint moves last, and only when every record that was listed has been settled.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from uuid import uuid4

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Conflict, DeadlineExceeded, NcbiFailed, NcbiRateLimited, NcbiUnreadable
from bio_mcp.literature.dates import utc_from_eastern
from bio_mcp.literature.records import Article, Deletion
from bio_mcp.ports import Backends, Job
from bio_mcp.syncing.revisions import Change
from bio_mcp.syncing.settling import settle
from bio_mcp.syncing.windows import FIELDS, LISTABLE, Segment, check_term, windows
