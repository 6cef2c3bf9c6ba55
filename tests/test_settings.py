"""The configuration, read from an environment."""

from dataclasses import fields
from pathlib import Path
from uuid import UUID

import pytest

from bio_mcp.errors import Misconfigured
from bio_mcp.literature.identifiers import EUTILS_URL
from bio_mcp.settings import NCBI_CONVERTER, Settings, models_folder
from scripts.docs import meanings


@pytest.mark.parametrize("empty", [None, "", "${user_config.any}"])  # the last is a field of a bundle left empty
def test_what_is_not_filled_in_leaves_the_default(empty):
    variables = ("MCP_HTTP_PORT", "NCBI_API_KEY") if empty is not None else ()
    assert Settings.from_env(dict.fromkeys(variables, empty)) == Settings()
    assert (Settings().http_host, Settings().http_port) == ("127.0.0.1", 3010)


def test_each_kind_of_value_is_read():
    read = Settings.from_env(
        {
            "BIO_MCP_HOME": "/srv/corpus",
            "MCP_HTTP_PORT": "0",
            "MCP_ALLOWED_ORIGINS": "https://a.example, https://b.example,",
            "BIO_MCP_CHUNK_NAMESPACE": "00000000-0000-0000-0000-000000000001",
            "BIO_MCP_TOOL_NAMES": "contract",
            "NCBI_BASE_URL": "http://127.0.0.1:8000/",
        }
    )
    assert (read.home, read.http_port) == (Path("/srv/corpus"), 0)
    assert read.allowed_origins == ("https://a.example", "https://b.example")
    assert read.chunk_namespace == UUID(int=1)
    assert (read.tool_names, read.ncbi_base_url) == ("contract", "http://127.0.0.1:8000/")


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("MCP_HTTP_PORT", "http", "MCP_HTTP_PORT must be a whole number"),
        ("MCP_HTTP_PORT", "-1", "MCP_HTTP_PORT must be a whole number"),
        ("MCP_HTTP_PORT", "²", "MCP_HTTP_PORT must be a whole number"),
        ("NCBI_MAX_RETRIES", "1.5", "NCBI_MAX_RETRIES must be a whole number"),
        ("BIO_MCP_CHUNK_NAMESPACE", "zero", "BIO_MCP_CHUNK_NAMESPACE is not a valid UUID"),
        ("BIO_MCP_MODE", "cloud", "BIO_MCP_MODE is 'cloud'; it takes aws, embedded"),
        ("BIO_MCP_EMBEDDINGS", "bert", "it takes hf, onnx, openai"),
        ("BIO_MCP_TOOL_NAMES", "dotted", "it takes contract, portable"),
        ("MCP_AUTH_SECRET_KEY", "s" * 40 + "\udcff", "MCP_AUTH_SECRET_KEY is not UTF-8"),
        ("NCBI_TOOL_IDENTIFIER", "\udce4", "NCBI_TOOL_IDENTIFIER is not UTF-8"),
        ("MCP_ALLOWED_HOSTS", "a.example,\udce4", "MCP_ALLOWED_HOSTS is not UTF-8"),
        ("MCP_LOG_LEVEL", "loud", "it takes debug, error, info, warning"),
    ],
)
def test_a_value_that_cannot_be_read_is_named_with_what_may_stand_there(variable, value, says):
    with pytest.raises(Misconfigured, match=says):
        Settings.from_env({variable: value})


def test_a_secret_is_not_shown():
    secrets = {each.name: f"k-{each.name}" for each in fields(Settings) if each.metadata["secret"]}
    assert {"ncbi_api_key", "llm_api_key", "reranker_api_key", "zotero_api_key"} <= secrets.keys()
    assert "k-" not in repr(Settings(**secrets))


def test_every_setting_has_a_variable_of_its_own_and_a_meaning():
    variables = [each.metadata["env"] for each in fields(Settings)]
    assert len(set(variables)) == len(variables)
    said = meanings()
    assert all(len(said[each.name]) > 10 for each in fields(Settings))


def test_the_variables_that_the_contracts_name_are_read():
    named = """
        BIO_MCP_HOME NCBI_BASE_URL NCBI_API_KEY NCBI_ADMIN_EMAIL NCBI_TOOL_IDENTIFIER NCBI_REQUEST_DELAY_MS
        NCBI_MAX_RETRIES MCP_ALLOWED_ORIGINS MCP_HTTP_HOST MCP_HTTP_PORT MCP_LOG_LEVEL
    """
    assert {each.metadata["env"] for each in fields(Settings)} >= set(named.split())


def test_a_setting_that_a_mode_cannot_do_without_is_named():
    with pytest.raises(Misconfigured, match="BIO_MCP_TABLE_JOBS is not set; mode aws needs it"):
        Settings(mode="aws").needed("table_jobs")
    assert Settings(table_jobs="jobs").needed("table_jobs") == "jobs"


def test_each_module_of_tools_has_its_function():
    read = Settings.from_env({"BIO_MCP_FUNCTIONS": "search=bio-search, get_doc = arn:aws:lambda:x:1:function:g:live"})
    assert read.function("search") == "bio-search"
    assert read.function("get_doc") == "arn:aws:lambda:x:1:function:g:live"
    with pytest.raises(Misconfigured, match="BIO_MCP_FUNCTIONS names no function for sync_delta"):
        read.function("sync_delta")


@pytest.mark.parametrize(
    ("base", "converter"),
    [
        (EUTILS_URL, NCBI_CONVERTER),
        ("http://127.0.0.1:8010/entrez/eutils/", "http://127.0.0.1:8010/tools/idconv/api/v1/articles/"),
        ("https://mirror.example.org/ncbi/", "https://mirror.example.org/tools/idconv/api/v1/articles/"),
    ],
)
def test_ids_are_looked_up_where_records_are_unless_set_otherwise(base, converter):
    assert Settings.from_env({"NCBI_BASE_URL": base}).converter_url == converter
    named = {"NCBI_BASE_URL": base, "NCBI_ID_CONVERTER_URL": "https://c.example.org/"}
    assert Settings.from_env(named).converter_url == "https://c.example.org/"


def test_models_are_in_the_environment_that_has_them_or_are_the_users_and_outlive_it(tmp_path):
    assert models_folder(str(tmp_path)) == Path("~/.bio-mcp/models")
    (tmp_path / "share/bio-mcp/models").mkdir(parents=True)
    assert models_folder(str(tmp_path)) == tmp_path / "share/bio-mcp/models"
