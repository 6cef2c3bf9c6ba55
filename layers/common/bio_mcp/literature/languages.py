"""Codes of languages, their names, and in which language a text is written."""

import re
from collections import Counter

_THREE_LETTERS = {
    "ar": "ara", "bg": "bul", "ca": "cat", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng",
    "es": "spa", "et": "est", "fa": "fas", "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin", "hr": "hrv",
    "hu": "hun", "id": "ind", "is": "isl", "it": "ita", "ja": "jpn", "ko": "kor", "la": "lat", "lt": "lit",
    "lv": "lav", "ms": "msa", "nl": "nld", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus",
    "sk": "slk", "sl": "slv", "sr": "srp", "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr", "vi": "vie",
    "zh": "zho",
}  # fmt: skip
MARC = {
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
"""English name and BCP 47 tag of the codes that PubMed has used, but for `und` and `mul`."""
_MARC_CODES = {code: _THREE_LETTERS[tag] for code, (_, tag) in MARC.items() if tag in _THREE_LETTERS}
_NAMES = {"english": "eng", "german": "deu", "deutsch": "deu", "thai": "tha", "ไทย": "tha"}
_TWO_LETTERS = {three: two for two, three in _THREE_LETTERS.items()}
_WORDS = {
    "en": frozenset("the of and to in is was were that with for are this by from which be as an on".split()),
    "de": frozenset("der die das und den dem des ist war mit für von zu nicht ein eine wird im auf bei".split()),
}
_COMMON = 0.12  # of all words are a language's commonest, at least
_THAI = 0.3  # of the letters
_FEWEST = 12  # words that show a language
_SAMPLE = 20_000  # characters


def three_letters(language: str) -> str | None:
    """The ISO 639-3 code of a language given by a code of ISO 639, a BCP 47 tag or its name: `de-AT` -> `deu`.

    None for what is no known language.
    """
    primary = re.split(r"[-_]", language.strip().casefold())[0]
    known = _THREE_LETTERS.get(primary) or _MARC_CODES.get(primary) or _NAMES.get(primary)
    return known or (primary if primary in _TWO_LETTERS else None)


def two_letters(language: str) -> str | None:
    """The ISO 639-1 code of what `three_letters` takes."""
    return _TWO_LETTERS.get(three_letters(language) or "")


def language_of(text: str) -> str | None:
    """English, German or Thai as `en`, `de` or `th`, by their letters and commonest words; None if it is unclear."""
    words = re.findall(r"[^\W\d_]+", text[:_SAMPLE].casefold())
    letters = sum(map(len, words))
    if letters and sum("ก" <= letter <= "ฮ" for word in words for letter in word) > _THAI * letters:
        return "th"
    counts = Counter(words)
    shares = {language: sum(counts[word] for word in common) / (len(words) or 1) for language, common in _WORDS.items()}
    likeliest = max(shares, key=lambda language: shares[language])
    return likeliest if len(words) >= _FEWEST and shares[likeliest] >= _COMMON else None
