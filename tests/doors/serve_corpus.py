"""The product over standard input and output, as a program: `python -m tests.doors.serve_corpus HOME`."""

import sys
from pathlib import Path

from bio_mcp.doors.logs import log_for_people
from bio_mcp.doors.mcp import stdio
from bio_mcp.settings import Settings
from tests.support.sample_corpus import Corpus, articles

if __name__ == "__main__":
    log_for_people()
    home = Path(sys.argv[1])
    stdio.serve(Settings(home=home, listed_tools=("all", "chatgpt", "topics")), Corpus(home, articles()))
