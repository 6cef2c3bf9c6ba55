"""What attackers try with the authorization server, and what comes of it."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from bio_mcp.callers import Caller
from bio_mcp.doors.auth.grants import CODE
from bio_mcp.doors.auth.sessions import hashed, owner_of
from bio_mcp.literature.clock import utc_now
from tests.doors.auth.minting import RESOURCE, hs256
from tests.doors.auth.server.team import ANN, BACK, CHALLENGE, DOCUMENT, ORIGIN, VERIFIER, Asking, hidden, parameters
from tests.doors.wire import ACCEPT

EVIL = "https://evil.example/back"
OF_CODE = "javascript", "javascript.", "JavaScript.x", "x.javascript", "java.script", "vbscript.x", "data.", "da.ta"


def error(response):
    return response.status_code, response.json()["error"]


@pytest.mark.parametrize(
    "uri",
    [
        EVIL,
        "https://client.example/back/../other",
        "https://client.example.evil.example/back",
        "https://client.example@evil.example/back",
        "https://client.example:8443/back",
        "http://client.example/back",
        "javascript:alert(1)",
        "",
    ],
)
@pytest.mark.parametrize("also_wrong", [{}, {"code_challenge": None}], ids=["alone", "with-another-error"])
def test_nobody_is_sent_to_an_address_that_the_client_did_not_give(client, ann, uri, also_wrong):
    answer = ann.get(client.request(redirect_uri=uri, **also_wrong))
    assert (answer.status_code, "location" in answer.headers) == (400, False)


def test_nobody_is_sent_anywhere_for_an_unknown_client(client, ann):
    for unknown in ("x", client.id[:-1], client.id.replace("registered.", "registered.x"), "registered.", "é"):
        answer = ann.get(client.request(client_id=unknown))
        assert (answer.status_code, "location" in answer.headers) == (400, False)


@pytest.mark.parametrize(
    "metadata",
    [
        {"redirect_uris": []},
        {"redirect_uris": [BACK, "javascript://client.example/%0aalert(1)"]},
        {"redirect_uris": [BACK, "http://client.example/back"]},
        {"redirect_uris": ["http://evil@localhost:9000/cb"]},
        *({"redirect_uris": [f"{scheme}:alert(1)"]} for scheme in OF_CODE),
        {"redirect_uris": [f"{BACK}/{number}" for number in range(11)]},
        {"redirect_uris": [f"{BACK}/{number}{'x' * 400}" for number in range(5)]},
        {"grant_types": ["client_credentials"]},
        {"token_endpoint_auth_method": "private_key_jwt"},
    ],
    ids=str,
)
def test_a_registration_that_cannot_work_is_refused(team, metadata):
    assert Asking(team, **metadata).registered.status_code == 400


@pytest.mark.parametrize("uri", ["http://evil@localhost:9000/cb", "http://:x@localhost:9000/cb"])
def test_user_information_makes_another_address(team, ann, uri):
    client = Asking(team, redirect_uris=["http://localhost:9000/cb"])
    answer = ann.get(client.request(redirect_uri=uri))
    assert (answer.status_code, "location" in answer.headers) == (400, False)


def test_a_program_may_have_a_scheme_of_its_own(team, ann):
    client = Asking(team, redirect_uris=["com.example.reader:/back"])
    answer = client.answer(ann, redirect_uri="com.example.reader:/back")
    assert answer.headers["location"].startswith("com.example.reader:/back?code=")


def test_a_flood_of_registrations_leaves_nothing_behind(team, tmp_path):
    before = {path.name for path in tmp_path.iterdir()}
    ids = {Asking(team, client_name=f"n{number}").id for number in range(20)}
    assert (len(ids), {path.name for path in tmp_path.iterdir()}) == (20, before)
    assert team.browser().post("/register", content=b"x" * 40_000).status_code == 413


@pytest.mark.parametrize(
    "changed",
    [
        {"code_challenge": None},
        {"code_challenge": ""},
        {"code_challenge_method": "plain"},
        {"code_challenge": VERIFIER, "code_challenge_method": "plain"},
        {"code_challenge": "short"},
        {"code_challenge": CHALLENGE + "="},
    ],
    ids=str,
)
def test_no_request_goes_without_s256(client, ann, changed):
    back = parameters(ann.get(client.request(**changed)))
    assert (back["error"], back["state"], back["iss"]) == ("invalid_request", "st", ORIGIN)


@pytest.mark.parametrize("verifier", [None, "", "x" * 43, CHALLENGE, VERIFIER.upper()])
def test_a_stolen_code_is_nothing_without_its_verifier(client, ann, verifier):
    code = client.code(ann)
    assert client.exchange(code, code_verifier=verifier).status_code == 400
    assert client.exchange(code).status_code == 200


def test_a_code_that_is_used_twice_ends_what_the_first_use_gave(client, ann, store):
    code = client.code(ann)
    tokens = client.exchange(code).json()
    assert error(client.exchange(code)) == (400, "invalid_grant")
    assert error(client.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert store.of("grant", owner_of(ANN)) == []


def test_a_refresh_token_that_is_used_twice_ends_its_family_and_no_other(team, client, ann):
    other = Asking(team)
    kept = other.exchange(other.code(ann)).json()["refresh_token"]
    stolen = client.exchange(client.code(ann)).json()["refresh_token"]
    thiefs = client.refresh(stolen).json()["refresh_token"]
    assert error(client.refresh(stolen)) == (400, "invalid_grant")
    assert error(client.refresh(thiefs)) == (400, "invalid_grant")
    assert other.refresh(kept).status_code == 200


def test_codes_and_tokens_of_one_client_are_nothing_to_another(team, client, ann):
    other = Asking(team, client_name="other")
    code = client.code(ann)
    assert error(other.exchange(code)) == (400, "invalid_grant")
    token = client.exchange(code).json()["refresh_token"]
    assert error(other.refresh(token)) == (400, "invalid_grant")
    assert other.browser.post("/revoke", data={"client_id": other.id, "token": token}).status_code == 200
    assert client.refresh(token).status_code == 200


def test_a_code_goes_with_its_redirect_uri(team, ann):
    client = Asking(team, redirect_uris=[BACK, f"{BACK}/2"])
    code = client.code(ann)
    assert client.exchange(code, redirect_uri=f"{BACK}/2").status_code == 400
    assert client.exchange(code, redirect_uri=None).status_code == 400


def test_a_code_is_good_for_a_minute(client, ann, store):
    code = client.code(ann)
    stored = store.get(CODE, hashed(code))
    assert 50 < stored.content["expires_at"] - utc_now().timestamp() <= 60
    store.put(replace(stored, content={**stored.content, "expires_at": utc_now().timestamp() - 1}))
    assert error(client.exchange(code)) == (400, "invalid_grant")


@pytest.mark.parametrize("resource", ["https://other.example/mcp", "https://mcp.example.org", f"{RESOURCE}/x", "x"])
def test_no_token_is_made_for_another_server(client, ann, resource):
    back = parameters(ann.get(client.request(resource=resource)))
    assert (back["error"], back["iss"]) == ("invalid_target", ORIGIN)
    assert error(client.exchange(client.code(ann), resource=resource)) == (400, "invalid_target")


@pytest.mark.parametrize("changed", [{"response_type": "token"}, {"response_type": "code token"}], ids=str)
def test_no_token_is_given_in_an_address(client, ann, changed):
    assert parameters(ann.get(client.request(**changed)))["error"] == "unsupported_response_type"


def test_a_parameter_that_is_given_twice_is_refused(client, ann):
    answer = ann.get(f"{client.request()}&{urlencode({'redirect_uri': EVIL})}")
    assert (answer.status_code, "location" in answer.headers) == (400, False)
    code = client.code(ann)
    twice = [("grant_type", "authorization_code"), ("code", code), ("code", "x"), ("client_id", client.id)]
    sent = client.browser.post(
        "/token", content=urlencode(twice), headers={"content-type": "application/x-www-form-urlencoded"}
    )
    assert error(sent) == (400, "invalid_request")


def decided(client, person):
    page = person.get(person.get(client.request()).headers["location"])
    return {**hidden(page), "decision": "allow", "scope": ["read"]}


@pytest.mark.parametrize(
    "headers",
    [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "", "origin": "null"}],
    ids=str,
)
def test_another_sites_page_allows_nothing(client, ann, store, headers):
    assert ann.post("/consent", data=decided(client, ann), headers=headers).status_code == 403
    assert store.of("grant", owner_of(ANN)) == []


def test_a_form_made_for_one_person_or_request_is_nothing_in_anothers(team, client, ann, store):
    bob = team.person(Caller("bob", frozenset({"read"})))
    assert ann.post("/consent", data=decided(client, bob)).status_code == 403
    other = decided(Asking(team, client_name="other"), ann)
    assert ann.post("/consent", data={**decided(client, ann), "request": other["request"]}).status_code == 403
    assert ann.post("/consent", data={**decided(client, ann), "token": ""}).status_code == 403
    assert store.of("grant", owner_of(ANN)) == []


def test_a_request_that_we_did_not_check_is_asked_nobody(client, ann):
    sealed = decided(client, ann)["request"]
    header, content, seal = sealed.split(".")
    for forged in ("", "x", f"{header}.{content}.{seal[:-4]}AAAA", hs256(), sealed + "x"):
        assert ann.get("/consent", params={"request": forged}).status_code == 400
        assert ann.post("/consent", data={"request": forged, "decision": "allow", "scope": "read"}).status_code == 400


def test_what_is_sealed_for_a_page_opens_no_endpoint(client, ann, team):
    sealed, cookie = decided(client, ann)["request"], ann.cookies.get(team.sessions.cookie)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    sent = {"accept": ACCEPT, "mcp-protocol-version": "2025-11-25"}
    for given in ({}, *({"authorization": f"Bearer {each}"} for each in (sealed, cookie, client.code(ann)))):
        assert ann.post("/mcp", json=body, headers={**sent, **given}).status_code == 401


def test_an_access_token_allows_no_further_client(client, ann, team):
    token = client.exchange(client.code(ann)).json()["access_token"]
    stranger = team.browser()
    sealed = decided(client, ann)
    for method, path in [("GET", client.request()), ("GET", "/consent"), ("POST", "/consent")]:
        answer = stranger.request(method, path, headers={"authorization": f"Bearer {token}"}, params=None)
        assert answer.status_code in (303, 401)
    assert stranger.post("/consent", data=sealed, headers={"authorization": f"Bearer {token}"}).status_code == 401


@pytest.mark.parametrize("path", ["/sign-in", "/consent"])
def test_no_page_is_shown_in_a_frame_or_runs_anothers_script(client, ann, path):
    page = ann.get(ann.get(client.request()).headers["location"] if path == "/consent" else path)
    assert page.headers["x-frame-options"] == "DENY"
    policy = page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy
    assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "same-origin")


def test_a_clients_name_is_text(team, ann):
    client = Asking(team, client_name='<script>alert("x")</script>\u202eevil\x1b[31m')
    page = ann.get(ann.get(client.request()).headers["location"]).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert not {"\u202e", "\x1b"} & set(page)


def test_a_person_is_told_where_the_answer_goes_and_that_nobody_checked_the_name(team, client, ann):
    page = ann.get(ann.get(client.request()).headers["location"]).text
    assert "<strong>client.example</strong>" in page
    assert "Nobody has checked its name" in page
    local = Asking(team, redirect_uris=["http://127.0.0.1/cb"])
    page = ann.get(ann.get(local.request(redirect_uri="http://127.0.0.1:7/cb")).headers["location"]).text
    assert "<strong>this computer</strong>" in page


def test_what_is_stored_opens_nothing(client, ann, tmp_path):
    code = client.code(ann)
    tokens = client.exchange(code).json()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (code, tokens["refresh_token"], tokens["access_token"], client.code(ann)):
        assert secret.encode() not in stored


def test_no_secret_is_logged(team, client, ann, caplog):
    caplog.set_level("DEBUG")
    code = client.code(ann)
    tokens = client.exchange(code).json()
    client.exchange(code)
    client.refresh("x")
    invitation = team.people.invite(ANN, timedelta(days=1))
    team.browser().post("/sign-in", data={"code": invitation, "next": "/"})
    ours = "".join(record.getMessage() for record in caplog.records if record.name.startswith(("bio_mcp", "mcp")))
    assert "used twice" in ours
    assert not [
        secret for secret in (code, *map(str, tokens.values()), invitation) if len(secret) > 20 and secret in ours
    ]


def test_any_program_on_a_computer_may_use_a_description_that_leads_back_there(team, ann):
    local = "http://127.0.0.1/cb"
    team.documents[DOCUMENT] = {"client_id": DOCUMENT, "client_name": "Claude", "redirect_uris": [local, BACK]}
    client = Asking(team)
    client.id = DOCUMENT
    warned = {
        uri: "any program on this computer"
        in ann.get(ann.get(client.request(redirect_uri=uri)).headers["location"]).text
        for uri in (local, BACK)
    }
    assert warned == {local: True, BACK: False}
