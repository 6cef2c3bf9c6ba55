"""Every tool and resource keeps its published contract, as tools.json beside this file has it."""

import json
from functools import cache
from pathlib import Path

import jsonschema
import mcp_types as types
import pytest

from bio_mcp import errors
from bio_mcp.call import call, envelope, read
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.mcp.listing import Listing, answer_schema, list_entry
from bio_mcp.errors import code_for
from bio_mcp.tool import AUDIT_SCHEMA
from bio_mcp.tools.fields import BIO_MCP, CITELOOM, PUBMED, TTM
from tests.contracts.schemas import misfits, same, same_input
from tests.support.cases import case
from tests.support.examples import EXAMPLES, parameters_of
from tests.support.sample_corpus import corpus
from tests.support.validation import validate

CONTRACT = json.loads((Path(__file__).parent / "tools.json").read_text())

ASKS_PASSAGES = ("find_chunks", "query", "query_hybrid", "hybrid_search")

# Optional inputs that the contract does not have, and what each is for.
PAYS = "what a model reads, it pays for"
ONE_JOB = "follow one job, and never start another by asking for its result"
MORE_INPUTS = {
    **{(name, "filters"): "some years, journals or publication types" for name in ("rag.search", "rag_answer")},
    ("rag.search", "sort"): "the newest papers, or the best evidence, first",
    ("rag.search", "cursor"): "what is found goes on where an answer ends",
    ("rag.search", "group_by_doc"): "one passage of each paper, or every passage",
    ("rag.search", "include_weak"): "matches that fit neither by meaning nor by words are left out",
    ("rag.search", "explain"): "why a hit stands where it does costs as many characters as the hit",
    ("rag.search", "synonyms"): "also look up MeSH synonyms of the words asked for",
    **{
        (name, "max_characters"): PAYS
        for name in ("rag.search", "rag.get", "query_kg", "find_contraindications", *ASKS_PASSAGES)
    },
    **{(name, "maxCharacters"): PAYS for name in ("fetchArticleDetails", "getArticleRelationships")},
    ("fetchArticleDetails", "includeAffiliations"): "a third of a record, which few need",
    ("getArticleRelationships", "moreStyles"): "citation styles that the contract's list does not have",
    ("list_projects", "cursor"): "a list goes on where an answer ends",
    ("list_projects", "project"): "what a library holds, by title and not by passage",
    ("ingest_from_source", "create"): "an agent's first document has no project yet",
    ("pubmed.sync_delta", "confirm"): "no typing error makes or turns a followed query",
    ("pubmed.sync_delta", "known_only"): "bring up to date what the corpus holds, as what was retracted, add nothing",
    ("pubmed.sync_delta", "max_records"): "confirm a sync that would fill the disk",
    **{(name, "job_id"): ONE_JOB for name in ("pubmed.sync_delta", "ingest_from_source", "ingest.run")},
    **{(name, "projects"): "several libraries at once" for name in ("find_chunks", "query", "query_hybrid")},
    ("ingest.run", "project"): "where the passages go",
}
# Clients pay for each schema at every start.
SAME_ANSWER = {"find_chunks", "query"}  # as query_hybrid's, which is listed
UNLISTED = SAME_ANSWER | {
    *("inspect_collection", "hybrid_search", "find_contraindications", "rag_answer", "query_kg", "eval.run"),
    *("ingest.run", "ingest_from_source", "store_chunks", "list_projects"),
    "fetchArticleDetails",  # whose records have the names of PubMed's own, 3 kB of them
}  # answers that say by their names what they hold


BEYOND = [name for name, tool in TOOLS.items() if tool.beyond]
OF_CONTRACT = [name for name in TOOLS if name not in BEYOND]

PMID = "17727691"  # a record of the sample
READS = [name for name in EXAMPLES if TOOLS[name].read_only]


def test_every_tool_and_resource_of_the_contracts_is_served():
    assert set(CONTRACT["tools"]) <= set(TOOLS)
    assert set(CONTRACT["resources"]) <= set(RESOURCES)


def test_nothing_is_served_that_neither_a_contract_nor_a_reason_names():
    assert set(BEYOND) == set(TOOLS) - set(CONTRACT["tools"])
    reasons = {
        "job://{job_id}": "of clients with tasks and without",
        "export://{id}": "what exportPapers links",
        "export://{id}/details": "addresses of files end after an hour",
        "export://{id}/{part}": "a file is longer than a client reads at once",
    }
    assert set(RESOURCES) - set(CONTRACT["resources"]) == set(reasons)


@pytest.mark.parametrize("name", OF_CONTRACT)
def test_an_input_is_the_contracts_field_by_field(name):
    assert same_input(TOOLS[name].input_schema, CONTRACT["tools"][name]["input"]) == []


@pytest.mark.parametrize("name", OF_CONTRACT)
def test_an_input_beyond_the_contract_is_optional_and_has_a_reason(name):
    ours = TOOLS[name].input_schema
    more = set(ours["properties"]) - set(CONTRACT["tools"][name]["input"]["properties"])
    assert more == {field for tool, field in MORE_INPUTS if tool == name}
    assert not more & set(ours.get("required", ()))


@pytest.mark.parametrize("name", OF_CONTRACT)
def test_an_output_has_every_field_of_the_contract_with_its_type(name):
    ours = TOOLS[name].output_schema
    assert same(ours, CONTRACT["tools"][name]["output"], ours) == []


@pytest.mark.parametrize("uri", [uri for uri in RESOURCES if uri in CONTRACT["resources"]])
def test_a_resource_has_every_field_of_the_contract_with_its_type(uri):
    ours = RESOURCES[uri].output.model_json_schema()
    assert same(ours, CONTRACT["resources"][uri]["payload"], ours) == []
    assert RESOURCES[uri].mime_type == "application/json"


@cache
def answered(name):
    """What the tool answers to its example, which several tests look at."""
    return call(TOOLS[name], EXAMPLES[name], corpus())


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_answer_fits_the_contract_and_the_tools_own_schema(name):
    body = answered(name).body
    assert "error" not in body
    validate(body, CONTRACT["tools"].get(name, {}).get("output", {}))
    validate(body, TOOLS[name].output_schema)


@pytest.mark.parametrize("uri", RESOURCES)
def test_a_resource_fits_the_contract_and_its_own_schema(uri):
    body = read(RESOURCES[uri], parameters_of(RESOURCES[uri], PMID), corpus()).body
    validate(body, CONTRACT["resources"].get(uri, {}).get("payload", {}))
    validate(body, RESOURCES[uri].output.model_json_schema())


def test_every_paper_fits_the_contract_of_rag_get_and_both_resources():
    for each in corpus().articles:
        validate(
            call(TOOLS["rag.get"], {"doc_id": f"pmid:{each.pmid}"}, corpus()).body,
            CONTRACT["tools"]["rag.get"]["output"],
        )
        for uri, resource in RESOURCES.items():
            if uri not in CONTRACT["resources"] or not resource.parameters:
                continue
            body = read(resource, parameters_of(resource, each.pmid), corpus()).body
            validate(body, CONTRACT["resources"][uri]["payload"])


def test_a_resource_of_a_paper_is_the_answer_of_rag_get():
    by_tool = call(TOOLS["rag.get"], {"doc_id": f"pmid:{PMID}"}, corpus()).body
    by_tool.pop("next_step", None)
    assert read(RESOURCES["resource://pubmed/paper/{pmid}"], {"pmid": PMID}, corpus()).body == by_tool


def test_the_audit_record_is_in_the_body_where_the_contract_has_it_and_nowhere_else():
    audited = {name for name, tool in TOOLS.items() if tool.family.audited}
    assert audited == {name for name in OF_CONTRACT if "audit" in CONTRACT["tools"][name]["output"]["properties"]}


@pytest.mark.parametrize("name", READS)
def test_the_same_question_has_the_same_answer(name):
    first, second = (call(TOOLS[name], EXAMPLES[name], corpus()) for _ in range(2))
    assert first.audit["out_hash"] == second.audit["out_hash"]
    assert first.audit["correlation_id"] != second.audit["correlation_id"]


def codes_of(name):
    """The codes that the contract gives a tool. The documents of citeloom and TTM list some, and leave others open:
    those are the design's."""
    own, family = CONTRACT["tools"][name]["errors"], TOOLS[name].family
    if family not in (CITELOOM, TTM):
        return own
    assert set(own) <= set(family.dialect.values())
    return sorted({*own, *family.dialect.values()})


def envelope_of(name):
    """The contract's error envelope, with the codes of the tool; in an audited family with the audit record."""
    code = {"enum": codes_of(name)}
    details = {"type": "object", "required": ["retryable"], "properties": {"retryable": {"type": "boolean"}}}
    error = {
        "type": "object",
        "required": ["code", "message", "details"],
        "properties": {"code": code, "message": {"type": "string", "minLength": 20}, "details": details},
        "additionalProperties": False,
    }
    properties = {"error": error} | ({"audit": AUDIT_SCHEMA} if TOOLS[name].family.audited else {})
    return {"type": "object", "required": ["error"], "properties": properties, "additionalProperties": False}


@pytest.mark.parametrize("name", [name for name in OF_CONTRACT if name in EXAMPLES])
def test_an_input_that_breaks_the_contract_is_refused_by_the_name_of_the_field(name):
    broken = list(misfits(CONTRACT["tools"][name]["input"], EXAMPLES[name]))
    assert broken
    for field, arguments in broken:
        with case(f"{field}: {json.dumps(arguments.get(field, 'absent'))}"):
            check_refused(name, field, arguments)


def check_refused(name, field, arguments):
    body = call(TOOLS[name], arguments, corpus()).body
    validate(body, envelope_of(name))
    assert body["error"]["code"] == code_for(errors.InvalidInput("x"), TOOLS[name].family.dialect)
    assert field in body["error"]["message"]
    assert body["error"]["details"]["retryable"] is False


@pytest.mark.parametrize(("name", "field"), MORE_INPUTS)
def test_an_optional_input_is_absent_never_null(name, field):
    body = call(TOOLS[name], {**EXAMPLES[name], field: None}, corpus()).body
    assert body["error"]["code"] == code_for(errors.InvalidInput("x"), TOOLS[name].family.dialect)


def failures(kind=errors.Failure):
    """The tree that `errors` draws; a kind that an adapter keeps to itself has the code of the one above it."""
    for each in kind.__subclasses__():
        if each.__module__ == errors.__name__:
            yield each
            yield from failures(each)


@pytest.mark.parametrize("failure", sorted(set(failures()), key=lambda each: each.__name__))
def test_every_failure_has_a_code_of_the_contract(failure):
    for name in OF_CONTRACT:
        body = envelope(failure("a sentence that says what to do next", retry_after_s=1), TOOLS[name].family.dialect)
        validate(body, envelope_of(name))


CODES = {  # of the BIO-MCP, pubmed and citeloom documents
    "InvalidInput": ("VALIDATION", "VALIDATION", "INVALID_ARG"),
    "NotFound": ("NOT_FOUND", "NOT_FOUND", "INVALID_PROJECT"),
    "JobNotFound": ("NOT_FOUND", "NOT_FOUND", "NOT_FOUND"),
    "ModelMismatch": ("INVARIANT_FAILURE", None, "EMBEDDING_MISMATCH"),
    "HybridUnavailable": ("VALIDATION", None, "HYBRID_NOT_SUPPORTED"),
    "NcbiRateLimited": ("RATE_LIMIT", "NCBI_RATE_LIMIT_WARNING", None),
    "NcbiFailed": ("ENTREZ", "NCBI_API_ERROR", None),
    "NcbiUnreadable": ("ENTREZ", "NCBI_PARSING_ERROR", None),
    "NcbiQueryRejected": ("ENTREZ", "NCBI_QUERY_ERROR", None),
    "UpstreamFailed": ("UPSTREAM", "UPSTREAM", "UPSTREAM"),
    "IndexUnavailable": ("WEAVIATE", None, "INDEX_UNAVAILABLE"),
    "StoreFailed": ("STORE", "STORE", "INDEX_UNAVAILABLE"),
    "EmbeddingFailed": ("EMBEDDINGS", None, "INDEX_UNAVAILABLE"),
    "DeadlineExceeded": ("UPSTREAM", "TIMEOUT", "TIMEOUT"),
}


@pytest.mark.parametrize("kind", CODES)
def test_the_codes_of_a_failure_are_the_designs(kind):
    failure = getattr(errors, kind)("x")
    for family, code in zip((BIO_MCP, PUBMED, CITELOOM), CODES[kind], strict=True):
        assert code in (None, code_for(failure, family.dialect))


@pytest.mark.parametrize("name", [name for name in OF_CONTRACT if CONTRACT["tools"][name].get("timeout_s")])
def test_a_time_out_is_the_contracts(name):
    assert TOOLS[name].timeout == CONTRACT["tools"][name]["timeout_s"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_schema_that_is_listed_fits_an_answer_or_an_error_and_nothing_between(name):
    listed = list_entry(TOOLS[name], name).output_schema or answer_schema(TOOLS[name])
    body = answered(name).body
    validate(body, listed)
    validate(envelope(errors.NotFound("a sentence"), TOOLS[name].family.dialect), listed)
    for broken in ({}, {**body, "surprise": 1}, {"error": {}}, {"error": "no"}):
        with pytest.raises(jsonschema.ValidationError):
            validate(broken, listed)


@pytest.mark.parametrize("names", ["portable", "contract"])
def test_the_list_of_tools_is_small_enough_to_pay_for(names):
    assert size_of_list(names, "rag") <= 10_000
    assert size_of_list(names, "pubmed") <= 12_000
    assert size_of_list(names, "projects") <= 10_000
    assert size_of_list(names, "default") <= 13_000
    assert size_of_list(names, "all") <= 40_000


def test_the_default_list_has_no_more_tools_than_a_model_tells_apart():
    assert len(Listing(tuple(TOOLS.values())).select("portable", ["default"])) <= 16


def size_of_list(names, *asked):
    """Bytes, as they are sent."""
    shown = types.ListToolsResult(tools=Listing(tuple(TOOLS.values())).select(names, asked))
    return len(shown.model_dump_json(by_alias=True, exclude_none=True).encode())


def test_the_answer_of_a_contracts_tool_is_listed_unless_another_has_the_same_or_it_describes_itself():
    assert {name for name in OF_CONTRACT if not TOOLS[name].output_listed} == UNLISTED
    for name in SAME_ANSWER:
        of_another = TOOLS["query_hybrid"].output_schema
        assert TOOLS[name].output_schema["$defs"] == of_another["$defs"]
        assert TOOLS[name].output_schema["properties"]["items"] == of_another["properties"]["items"]


@pytest.mark.parametrize("name", [name for name in OF_CONTRACT if name not in UNLISTED])
def test_the_answer_of_a_contracts_tool_is_listed_with_every_field(name):
    listed = list_entry(TOOLS[name], name).output_schema
    answer, _error = listed.pop("anyOf")
    assert same({**listed, **answer}, CONTRACT["tools"][name]["output"], listed) == []
