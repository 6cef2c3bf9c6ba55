"""What of the parser can be checked: whether text in images can be recognised."""

from bio_mcp.adapters.parsers.tesseract import DEFAULT, Tesseract
from bio_mcp.health import OK, Finding


def text_recognition(program: str) -> Finding:
    """Name the languages whose scans are read. No check fails for want of them: few need it."""
    tesseract = Tesseract(program, DEFAULT)
    if tesseract.problem:
        return Finding(OK, "scanned pages are refused, all else is read", tesseract.problem)
    packs = sorted(tesseract.installed - {"osd"})
    return Finding(OK, f"scanned pages are read: {', '.join(packs)}", " ".join(tesseract.warnings))
