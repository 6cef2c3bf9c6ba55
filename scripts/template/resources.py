"""What the template has for one function: its log, its role and itself."""

from collections.abc import Sequence

from scripts.template import index
from scripts.template.blocks import Tagged, Value
from scripts.template.functions import Function
from scripts.template.image import from_image, storage
from scripts.template.policies import BOUNDARY, NO_VALUE, PATH, own, shared
from scripts.template.watching import logs

BY_LAMBDA = (
    '{ Version: "2012-10-17", '
    "Statement: [{ Effect: Allow, Principal: { Service: lambda.amazonaws.com }, Action: sts:AssumeRole }] }"
)
OWN_URL = '!If [HasDomain, !Sub "https://${DomainName}/mcp", !Sub "https://${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}/mcp"]'
ENDPOINT = f'!If [HasEdge, !Sub "https://${{EdgeDomainName}}/mcp", {OWN_URL}]'
VALUES = {  # every variable that names what a port uses; a function has those of its own ports, in this order
    "BIO_MCP_MODELS": "/opt/models",
    "BIO_MCP_TABLE_DOCUMENTS": "!If [MakesDocuments, !Ref DocumentsTable, !Ref DocumentsTableName]",
    "BIO_MCP_TABLE_CHECKPOINTS": "!Ref CheckpointsTable",
    "BIO_MCP_TABLE_JOBS": "!Ref JobsTable",
    "BIO_MCP_TABLE_NEWS": "!Ref NewsTable",
    "BIO_MCP_TABLE_LEASES": "!Ref LeasesTable",
    "BIO_MCP_TABLE_AUDIT": "!Ref AuditTable",
    "BIO_MCP_TABLE_PACE": "!Ref PaceTable",
    "BIO_MCP_TABLE_CACHE": "!Ref CacheTable",
    "BIO_MCP_TABLE_PROJECTS": "!Ref ProjectsTable",
    "BIO_MCP_TABLE_PROJECT_DOCUMENTS": "!Ref ProjectDocumentsTable",
    "BIO_MCP_TABLE_GRAPH": "!Ref GraphTable",
    "BIO_MCP_TABLE_ANSWERS": "!Ref AnswersTable",
    "BIO_MCP_TABLE_SCREENINGS": "!Ref ScreeningsTable",
    "BIO_MCP_TABLE_CALLS": "!Ref CallsTable",
    "BIO_MCP_TABLE_AUTHORIZATIONS": "!Ref AuthorizationsTable",
    "BIO_MCP_TABLE_BUDGETS": "!Ref BudgetsTable",
    "BIO_MCP_QUEUE_URL": "!Ref WorkQueue",
    "BIO_MCP_EVENT_BUS": "!Ref EventBus",
    "BIO_MCP_OPENSEARCH_URL": '!If [MakesIndex, !Sub "https://${SearchDomain.DomainEndpoint}", !Ref OpenSearchUrl]',
    "BIO_MCP_OPENSEARCH_SERVICE": "!Ref OpenSearchService",
    "BIO_MCP_OPENSEARCH_SHARDS": "!Ref OpenSearchShards",
    "BIO_MCP_OPENSEARCH_VECTORS": "!Ref OpenSearchVectors",
    "NCBI_FILES_URL": "!Ref NcbiFilesUrl",
    "NCBI_ID_CONVERTER_URL": "!Ref NcbiIdConverterUrl",
    "BIO_MCP_SYNC_MAX_RECORDS": "!Ref SyncMaxRecords",
    "BIO_MCP_SOURCES": "!Ref LiteratureSources",
    "BIO_MCP_SOURCES_EMAIL": "!Ref LiteratureSourcesEmail",
    "BIO_MCP_INGEST_BUCKETS": '!If [HasIngestBuckets, !Sub "${Bucket},${IngestBuckets}", !Ref Bucket]',
    "BIO_MCP_INGEST_HOSTS": "!Ref IngestHosts",
    "ZOTERO_LIBRARY_ID": "!Ref ZoteroLibraryId",
    "ZOTERO_LIBRARY_TYPE": "!Ref ZoteroLibraryType",
    "ZOTERO_API_KEY": '!If [HasZoteroKey, !Sub "${SecretStore}:${ZoteroApiKeyName}", ""]',
    "BIO_MCP_ANSWER_TAU": "!Ref AnswerTau",
    "BIO_MCP_LLM": "!Ref LanguageModel",
    "BIO_MCP_LLM_MODEL": "!Ref LanguageModelId",
    "BIO_MCP_LLM_GUARDRAIL": "!Ref LanguageModelGuardrail",
    "MCP_RESOURCE_URL": ENDPOINT,
    "MCP_ALLOWED_HOSTS": "!Ref AllowedHosts",
    "MCP_ALLOWED_ORIGINS": "!Ref AllowedOrigins",
    "MCP_AUTH_SECRET_KEY": '!If [HasAuthSecret, !Sub "${SecretStore}:${AuthSecretName}", ""]',
    "MCP_AUTH_JWKS_URL": "!Ref AuthJwksUrl",
    "MCP_AUTH_ISSUER": "!Ref AuthIssuer",
    "MCP_AUTH_AUDIENCE": "!Ref AuthAudience",
    "MCP_AUTH_REQUIRED_SCOPES": "!Ref AuthScopes",
    "MCP_IDP_ISSUER": "!Ref IdpIssuer",
    "MCP_IDP_JWKS_URL": "!Ref IdpJwksUrl",
    "MCP_IDP_SUBJECT_CLAIM": "!Ref IdpSubjectClaim",
    "MCP_IDP_TENANT_CLAIM": "!Ref IdpTenantClaim",
    "MCP_IDP_SCOPES": "!Ref IdpScopes",
    "BIO_MCP_PUBLIC_READ": "!Ref PublicRead",
    "BIO_MCP_TOOLS": "!Ref ListedTools",
    "NCBI_ADMIN_EMAIL": "!Ref NcbiAdminEmail",
    "NCBI_API_KEY": '!If [HasNcbiKey, !Sub "${SecretStore}:${NcbiApiKeyName}", ""]',
}


def resources(function: Function, callees: Sequence[Function]) -> dict[str, Value]:
    """Logical id -> resource. `callees` are the functions that serve tools."""
    made: dict[str, dict[str, Value]] = {
        f"{function.id}Role": _role(function, callees),
        f"{function.id}Function": _function(function, callees),
    }
    if function.only:
        made = {f"{function.id}Logs": logs(f"!Sub /aws/lambda/${{AWS::StackName}}-{function.name}"), **made}
    image = from_image(function, _variables(function, callees)) if function.image else {}
    return {name: function.only | each for name, each in made.items()} | image


def _role(function: Function, callees: Sequence[Function]) -> dict[str, Value]:
    indices = [f"!If [GrantsIndex, !Ref {name}, {NO_VALUE}]" for name in index.used(function)]
    properties: Value = {
        "Path": PATH,
        "PermissionsBoundary": BOUNDARY,
        "AssumeRolePolicyDocument": BY_LAMBDA,
        "ManagedPolicyArns": ["!Ref FunctionPolicy", *indices, *shared(function)],
        "Policies": [own(function, callees)],
    }
    return {"Type": "AWS::IAM::Role", "Properties": properties}


def _function(function: Function, callees: Sequence[Function]) -> dict[str, Value]:
    properties: Value = {
        "FunctionName": f"!Sub ${{AWS::StackName}}-{function.name}",
        "Description": function.description,
        "CodeUri": f"functions/{function.name}",
        "Role": f"!GetAtt {function.id}Role.Arn",
        "Layers": f"[{', '.join(f'!Ref {each}' for each in function.layers)}]",
        "Timeout": str(function.timeout_s),
        "MemorySize": str(function.memory_mb),
        **storage(function.ports.variables),
        "LoggingConfig": f"{{ LogGroup: !Ref {function.id}Logs }}",
        **function.properties,
        "Environment": {"Variables": _variables(function, callees)},
    }
    only: dict[str, Value] = {"Condition": f"Without{function.image}"} if function.image else {}
    return {"Type": "AWS::Serverless::Function", **only, "Metadata": "{ SkipBuild: true }", "Properties": properties}


def _variables(function: Function, callees: Sequence[Function]) -> dict[str, Value]:
    calls = {"BIO_MCP_FUNCTIONS": _served(called)} if (called := function.called(callees)) else {}
    queue = {"BIO_MCP_QUEUE_URL": f"!Ref {function.queue}"} if function.queue else {}
    known = VALUES | queue | function.variables
    if unknown := function.ports.variables - known.keys():
        raise LookupError(f"add to VALUES in scripts/template/resources.py: {', '.join(sorted(unknown))}")
    return {name: known[name] for name in known if name in function.ports.variables} | calls | function.variables


def _served(callees: Sequence[Function]) -> Value:
    """`search=NAME,get_doc=NAME`, as YAML."""
    named = ",".join(f"{each.name}=${{{each.id if each.image else f'{each.id}Function'}}}" for each in callees)
    either: dict[str, Value] = {each.id: each.ref for each in callees if each.image}
    return Tagged("!Sub", [f'"{named}"', either]) if either else f"!Sub {named}"
