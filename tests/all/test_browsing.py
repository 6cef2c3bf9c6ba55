"""What a page complains of: a request that fails, not one that ended because the page was left."""

import pytest

from tests.all.browsing import chromium, opened

__all__ = ["chromium"]  # a fixture

BASE = "http://page.test"
PAGE = "<link rel=icon href=data:,><img src=/picture>"


@pytest.mark.parametrize("fails", [False, True])
def test_only_a_request_that_fails_is_a_complaint(chromium, fails):
    with opened(chromium, BASE) as (page, complaints):
        page.route("**/", lambda route: route.fulfill(content_type="text/html", body=PAGE))
        page.route("**/picture", lambda route: route.abort("connectionreset") if fails else None)
        with page.expect_event("requestfailed"):
            with page.expect_request("**/picture"):
                page.goto("/", wait_until="commit")
            if not fails:
                page.goto("about:blank")
        assert [each for each in complaints if each.endswith("/picture")] == [f"{BASE}/picture"] * fails
