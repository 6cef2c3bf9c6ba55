"""What a user may do who owns nothing of a data directory."""

import json
import os

from bio_mcp.errors import Failure

NOBODY = 65_534


def as_reader(ask):
    """What `ask` gives in a process that root's rights do not help, as JSON; the sentence where it fails."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            try:
                answer = ask()
            except Failure as failure:
                answer = str(failure)
            os.write(theirs, json.dumps(answer).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer)
