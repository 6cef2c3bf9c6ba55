import pytest

from bio_mcp.literature.layout.lines import readable


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("e\ufb03cient \ufb01nding", "efficient finding"),
        ("T¨ubingen", "Tübingen"),
        ("caf´e", "café"),
        ("Franc¸ois", "François"),
        ("5´ end", "5´ end"),
        ("a\u00a0b\u2009c", "a b c"),
        ("a\u200bb\ufeff", "ab"),
        ("10⁻⁵ µg × 3", "10⁻⁵ µg × 3"),
        ("beta\u2010blocker", "beta-blocker"),
        ("ขมิ ้นชัน", "ขมิ้นชัน"),
        ("นĚา", "นำ"),
        ("ท่อนĚ้าดี", "ท่อน้ำดี"),
        ("น\u0e4dา", "นำ"),
        ("ปี\uf70aที\uf70bสุด".replace("\uf70b", "\uf70a"), "ปี่ที่สุด"),
        ("plain ASCII - text", "plain ASCII - text"),
    ],
)
def test_characters_are_those_that_a_reader_types(stored, read):
    assert readable(stored) == read
