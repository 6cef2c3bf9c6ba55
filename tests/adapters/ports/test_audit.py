def test_changes_are_kept_in_order(audit):
    audit.record("checkpoint.set", "q", {"last_edat": None}, {"last_edat": "2024-01-01"})
    audit.record("checkpoint.set", "q", None, ["ü"], caller="ada@example.org")
    first, second = audit.entries()
    assert (first["action"], first["subject"], first["before"]) == ("checkpoint.set", "q", {"last_edat": None})
    assert second["after"] == ["ü"]
    assert (first["caller"], second["caller"]) == (None, "ada@example.org")
    assert first["at"] <= second["at"]
