"""MARC language codes, which PubMed uses, to English names and BCP 47 tags."""

_KNOWN = {
    "afr": ("Afrikaans", "af"), "alb": ("Albanian", "sq"), "ara": ("Arabic", "ar"), "arm": ("Armenian", "hy"),
    "aze": ("Azerbaijani", "az"), "bos": ("Bosnian", "bs"), "bul": ("Bulgarian", "bg"), "cat": ("Catalan", "ca"),
    "chi": ("Chinese", "zh"), "cze": ("Czech", "cs"), "dan": ("Danish", "da"), "dut": ("Dutch", "nl"),
    "eng": ("English", "en"), "epo": ("Esperanto", "eo"), "est": ("Estonian", "et"), "fin": ("Finnish", "fi"),
    "fre": ("French", "fr"), "geo": ("Georgian", "ka"), "ger": ("German", "de"), "gla": ("Scottish Gaelic", "gd"),
    "gre": ("Greek", "el"), "heb": ("Hebrew", "he"), "hin": ("Hindi", "hi"), "hrv": ("Croatian", "hr"),
    "hun": ("Hungarian", "hu"), "ice": ("Icelandic", "is"), "ind": ("Indonesian", "id"), "ita": ("Italian", "it"),
    "jpn": ("Japanese", "ja"), "kin": ("Kinyarwanda", "rw"), "kor": ("Korean", "ko"), "lat": ("Latin", "la"),
    "lav": ("Latvian", "lv"), "lit": ("Lithuanian", "lt"), "mac": ("Macedonian", "mk"), "mal": ("Malayalam", "ml"),
    "mao": ("Maori", "mi"), "may": ("Malay", "ms"), "nor": ("Norwegian", "no"), "per": ("Persian", "fa"),
    "pol": ("Polish", "pl"), "por": ("Portuguese", "pt"), "pus": ("Pushto", "ps"), "rum": ("Romanian", "ro"),
    "rus": ("Russian", "ru"), "san": ("Sanskrit", "sa"), "slo": ("Slovak", "sk"), "slv": ("Slovenian", "sl"),
    "spa": ("Spanish", "es"), "srp": ("Serbian", "sr"), "swe": ("Swedish", "sv"), "tha": ("Thai", "th"),
    "tur": ("Turkish", "tr"), "ukr": ("Ukrainian", "uk"), "urd": ("Urdu", "ur"), "vie": ("Vietnamese", "vi"),
    "wel": ("Welsh", "cy"),
}  # fmt: skip


def english(code: str) -> str:
    """English name: `ger` -> `German`. "" for `und`, `mul` and codes that PubMed has not used."""
    return _KNOWN.get(code, ("", ""))[0]


def tag(code: str) -> str:
    """BCP 47 tag: `ger` -> `de`. "" where there is none."""
    return _KNOWN.get(code, ("", ""))[1]
