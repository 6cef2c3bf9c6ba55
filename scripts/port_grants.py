"""What each port takes on AWS: the variables that name its service, and the IAM actions that its methods call.

A grant is `(action, resource)`. A resource is written as `aws_template.py` of the tests reads it: what has `${...}`
is a Sub, what has a dot a GetAtt, any other word a Ref. Whether a policy stands under a condition is the template's
business.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Grant = tuple[str, str]

DOMAIN = "${OpenSearchArn}"
INDEX = tuple(f"{DOMAIN}/${{OpenSearchIndex}}{rest}" for rest in ("", "/*", "-*"))  # the corpus's: alias and indices
COLLECTIONS = (f"{DOMAIN}/${{OpenSearchIndex}}.*",)  # those of projects: no name of one fits the other
PUBLISHED = "index"  # folder of the bucket, where the indices are in S3
CONTINUATIONS = "WorkQueue"  # unless a function works through another queue
FOLDER = "<its own>"  # of files, which function.toml names
_HERE = "${AWS::Region}:${AWS::AccountId}"


@dataclass(frozen=True, slots=True)
class Given:
    """Variables of a function's environment, and what its role may do."""

    variables: frozenset[str] = frozenset()
    grants: frozenset[Grant] = frozenset()

    def __or__(self, other: "Given") -> "Given":
        return Given(self.variables | other.variables, self.grants | other.grants)

    def without(self, other: "Given") -> "Given":
        """What is here and not in `other`."""
        return Given(self.variables - other.variables, self.grants - other.grants)


def table(name: str, *actions: str) -> frozenset[Grant]:
    """Actions on a table of DynamoDB."""
    return frozenset((f"dynamodb:{action}", f"{name}Table.Arn") for action in actions)


def files(folder: str, *actions: str) -> frozenset[Grant]:
    """Actions on the objects of a folder of the bucket."""
    return frozenset((f"s3:{action}", f"${{Bucket.Arn}}/{folder}/*") for action in actions)


def index(*methods: str, of: Sequence[str] = INDEX) -> frozenset[Grant]:
    """Methods of HTTP on paths of OpenSearch: of a domain, or of a collection, which knows one action for all."""
    paths = frozenset((f"es:ESHttp{method}", path) for method in methods for path in of)
    return paths | {("aoss:APIAccessAll", "OpenSearchArn")}


def published(name: str, *, writes: bool = False) -> frozenset[Grant]:
    """What an index in S3 takes where IndexTier is s3, by resources that are Subs: what else a function does has none.

    Listing tells whether an index was ever written; a writer takes a lease.
    """
    objects, leases = f"${{Bucket.Arn}}/{PUBLISHED}/{name}/*", "${LeasesTable.Arn}"
    reading = {("s3:GetObject", objects), ("s3:ListBucket", "${Bucket.Arn}")}
    writing = {("s3:PutObject", objects), ("s3:DeleteObject", objects)}
    writing |= {(f"dynamodb:{action}Item", leases) for action in ("Put", "Update", "Delete")}
    return frozenset(reading | writing if writes else reading)


def in_s3(grant: Grant) -> bool:
    """Whether it is one of an index in S3."""
    return grant[1] in ("${Bucket.Arn}", "${LeasesTable.Arn}") or f"/{PUBLISHED}/" in grant[1]


def secret(parameter: str) -> frozenset[Grant]:
    """Reading the secret that a parameter of the template names, wherever it is kept."""
    named = f"${{{parameter}}}"
    return frozenset(
        {
            ("ssm:GetParameter", f"arn:${{AWS::Partition}}:ssm:{_HERE}:parameter/{named}"),
            ("ssm:GetParameter", f"arn:${{AWS::Partition}}:ssm:{_HERE}:parameter{named}"),
            ("secretsmanager:GetSecretValue", f"arn:${{AWS::Partition}}:secretsmanager:{_HERE}:secret:{named}-??????"),
            ("kms:Decrypt", "SecretKmsKeyArn"),
        }
    )


MODEL_BEHIND = "arn:${AWS::Partition}:bedrock:*::foundation-model/*"  # only by the inference profile that is named
PROFILE = f"arn:${{AWS::Partition}}:bedrock:{_HERE}:inference-profile/${{LanguageModelId}}"
MODEL = frozenset(
    {
        ("bedrock:InvokeModel", "arn:${AWS::Partition}:bedrock:${AWS::Region}::foundation-model/${LanguageModelId}"),
        ("bedrock:InvokeModel", PROFILE),
        ("bedrock:InvokeModel", MODEL_BEHIND),
        ("bedrock:ApplyGuardrail", f"arn:${{AWS::Partition}}:bedrock:{_HERE}:guardrail/*"),
    }
)
ARTICLE, JOB = files("articles", "GetObject"), files("jobs", "GetObject")
LISTING = frozenset({("s3:ListBucket", "Bucket.Arn")})  # of some folders: function.toml names them, or it is the inbox
READING = table("Documents", "BatchGetItem")
DOCUMENT = files("project-documents", "GetObject")
REVIEW = table("Screenings", "Query") | files("reviews", "GetObject")
REVIEWING = table("Screenings", "BatchWriteItem", "UpdateItem") | files("reviews", "PutObject")
ASKING = table("Pace", "GetItem", "UpdateItem") | secret("NcbiApiKeyName")
CACHING = ASKING | table("Cache", "BatchGetItem", "BatchWriteItem")
TURNS = table("Pace", "GetItem", "UpdateItem") | table("Cache", "BatchGetItem", "BatchWriteItem")
SERVICES = ("BIO_MCP_TABLE_PACE", "BIO_MCP_TABLE_CACHE", "BIO_MCP_SOURCES", "BIO_MCP_SOURCES_EMAIL")
NCBI = ("BIO_MCP_TABLE_PACE", "NCBI_ADMIN_EMAIL", "NCBI_API_KEY")

CORPUS, CORPUS_WRITTEN = published("corpus*"), published("corpus*", writes=True)
PROJECTS, PROJECTS_WRITTEN = published("projects"), published("projects", writes=True)
INDEXED = ("BIO_MCP_OPENSEARCH_URL", "BIO_MCP_OPENSEARCH_SERVICE", "BIO_MCP_TABLE_LEASES")

VARIABLES = {
    "documents": ("BIO_MCP_TABLE_DOCUMENTS",),
    "passages": INDEXED,
    "indexes": INDEXED,
    "models": ("BIO_MCP_MODELS",),
    "parser": (),
    "zotero": ("ZOTERO_LIBRARY_ID", "ZOTERO_LIBRARY_TYPE", "ZOTERO_API_KEY"),
    "sources": ("BIO_MCP_INGEST_BUCKETS", "BIO_MCP_INGEST_HOSTS"),
    "embeddings": ("BIO_MCP_MODELS",),
    "language_model": ("BIO_MCP_LLM", "BIO_MCP_LLM_MODEL", "BIO_MCP_LLM_GUARDRAIL"),
    "entrez": NCBI,
    "pubmed": (*NCBI, "BIO_MCP_TABLE_CACHE"),
    "lookup": (*NCBI, "BIO_MCP_TABLE_CACHE", "NCBI_ID_CONVERTER_URL"),
    "metrics": SERVICES,
    "notices": SERVICES,
    "europe_pmc": SERVICES,
    "open_access": SERVICES,
    "projects": ("BIO_MCP_TABLE_PROJECTS",),
    "collections": INDEXED,
    "project_documents": ("BIO_MCP_TABLE_PROJECT_DOCUMENTS",),
    "answers": ("BIO_MCP_TABLE_ANSWERS",),
    "screenings": ("BIO_MCP_TABLE_SCREENINGS",),
    "graph": ("BIO_MCP_TABLE_GRAPH",),
    "calls": ("BIO_MCP_TABLE_CALLS",),
    "authorizations": ("BIO_MCP_TABLE_AUTHORIZATIONS",),
    "load_files": (),
    "pubmed_files": ("NCBI_FILES_URL",),
    "budgets": ("BIO_MCP_TABLE_BUDGETS",),
    "blobs": (),
    "checkpoints": ("BIO_MCP_TABLE_CHECKPOINTS",),
    "news": ("BIO_MCP_TABLE_NEWS",),
    "jobs": ("BIO_MCP_TABLE_JOBS",),
    "leases": ("BIO_MCP_TABLE_LEASES",),
    "continuations": ("BIO_MCP_QUEUE_URL",),
    "audit": ("BIO_MCP_TABLE_AUDIT",),
    "announcements": ("BIO_MCP_EVENT_BUS", "BIO_MCP_TABLE_CACHE", "BIO_MCP_TABLE_PACE"),
}
MORE_VARIABLES = {  # of what goes with a method alone
    "passages.ensure_schema": ("BIO_MCP_OPENSEARCH_SHARDS", "BIO_MCP_OPENSEARCH_VECTORS"),
    "answers.put": ("BIO_MCP_ANSWER_TAU",),
}

# By method; `port.*` is what every other method of the port takes.
GRANTS: dict[str, frozenset[Grant]] = {
    "documents.get": READING | ARTICLE,
    "documents.get_many": READING | ARTICLE,
    "documents.heads": READING,
    "documents.resolve": READING,
    "documents.count": READING,
    "documents.stored_by_day": READING,
    "documents.pmids": table("Documents", "Scan"),
    "documents.at_version": READING | ARTICLE,
    "documents.put": READING | table("Documents", "PutItem", "UpdateItem") | files("articles", "PutObject"),
    "documents.mark_indexed": table("Documents", "UpdateItem"),
    "documents.mark_given": table("Documents", "UpdateItem"),
    "documents.standing": READING,
    "documents.deletions": table("Documents", "GetItem"),
    "documents.tombstones": table("Documents", "Scan"),
    "documents.delete": READING | table("Documents", "BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem"),
    "passages.*": index("Get") | CORPUS,
    "passages.ensure_schema": index("Get", "Put", "Post") | CORPUS_WRITTEN,
    "passages.upsert_chunks": index("Get", "Post") | CORPUS_WRITTEN,
    "passages.refresh": index("Get", "Post") | CORPUS,
    "passages.delete": index("Get", "Post") | CORPUS_WRITTEN,
    "indexes.all": index("Get") | CORPUS,
    "models.*": frozenset(),
    "projects.get": table("Projects", "GetItem", "Scan"),  # Scan names the others where there is none of that id
    "projects.put": table("Projects", "PutItem"),
    "projects.all": table("Projects", "Scan"),
    "projects.delete": table("Projects", "DeleteItem"),
    "collections.*": index("Get", of=COLLECTIONS) | PROJECTS,
    "collections.create": index("Get", "Put", "Delete", of=COLLECTIONS) | PROJECTS_WRITTEN,
    "collections.drop": index("Get", "Delete", of=COLLECTIONS) | PROJECTS_WRITTEN,
    "collections.rebuild": index("Get", "Put", "Post", "Delete", of=COLLECTIONS) | PROJECTS_WRITTEN,
    "collections.replace": index("Get", "Post", of=COLLECTIONS) | PROJECTS_WRITTEN,
    "collections.upsert": index("Get", "Post", of=COLLECTIONS) | PROJECTS_WRITTEN,
    "project_documents.find": table("ProjectDocuments", "BatchGetItem") | DOCUMENT,
    "project_documents.all": table("ProjectDocuments", "Query") | DOCUMENT,
    "project_documents.put": table("ProjectDocuments", "PutItem", "BatchWriteItem")
    | files("project-documents", "PutObject"),
    "project_documents.delete": table("ProjectDocuments", "BatchGetItem", "DeleteItem", "BatchWriteItem") | DOCUMENT,
    "project_documents.cursor": table("ProjectDocuments", "GetItem") | DOCUMENT,
    "project_documents.put_cursor": table("ProjectDocuments", "PutItem") | files("project-documents", "PutObject"),
    "project_documents.drop": table("ProjectDocuments", "Query", "BatchWriteItem"),
    "embeddings.*": frozenset(),
    "language_model.fingerprint": frozenset(),
    "language_model.generate": MODEL,
    "parser.*": frozenset(),
    "zotero.*": secret("ZoteroApiKeyName"),
    "sources.*": files("inbox", "GetObject"),
    "sources.files": files("inbox", "GetObject") | LISTING,
    "entrez.*": ASKING,
    "pubmed.*": CACHING,
    "lookup.*": CACHING,
    "metrics.*": TURNS,
    "notices.*": TURNS,
    "europe_pmc.*": TURNS,
    "open_access.*": TURNS,
    "answers.get": table("Answers", "BatchGetItem"),
    "answers.put": table("Answers", "BatchGetItem", "BatchWriteItem", "PutItem", "UpdateItem"),
    "answers.citing": table("Answers", "Query", "BatchGetItem"),
    "answers.flag": table("Answers", "Query", "BatchGetItem", "PutItem", "UpdateItem"),
    "answers.flagged": table("Answers", "Query", "BatchGetItem"),
    "screenings.records": REVIEW,
    "screenings.labels": REVIEW,
    "screenings.searches": REVIEW,
    "screenings.plan": table("Screenings", "GetItem"),
    "screenings.put_plan": table("Screenings", "PutItem"),
    "screenings.reviews": table("Screenings", "Query"),
    "screenings.merges": REVIEW,
    "screenings.put": REVIEWING,
    "screenings.remove_labels": REVIEW | table("Screenings", "Query", "BatchWriteItem"),
    "screenings.remove_merge": table("Screenings", "BatchWriteItem"),
    "screenings.drop": table("Screenings", "Query", "BatchWriteItem"),
    "graph.put": table("Graph", "BatchGetItem", "BatchWriteItem", "PutItem", "UpdateItem"),
    "graph.nodes": table("Graph", "BatchGetItem"),
    "graph.neighbours": table("Graph", "BatchGetItem", "Query"),
    "graph.named": table("Graph", "BatchGetItem", "Query"),
    "graph.names": table("Graph", "Scan"),
    "graph.revision": table("Graph", "BatchGetItem"),
    "graph.count": table("Graph", "BatchGetItem"),
    "calls.record": table("Calls", "PutItem", "UpdateItem") | files("calls", "PutObject"),
    "calls.get": table("Calls", "BatchGetItem") | files("calls", "GetObject"),
    "calls.latest": table("Calls", "GetItem", "Query", "BatchGetItem") | files("calls", "GetObject"),
    "load_files.tags": LISTING,
    "load_files.get": files("load", "GetObject") | LISTING,
    "load_files.put": files("load", "PutObject"),
    "load_files.download": files("load", "GetObject") | LISTING,
    "load_files.delete": files("load", "DeleteObject"),
    "pubmed_files.*": frozenset(),
    "authorizations.put": table("Authorizations", "PutItem"),
    "authorizations.get": table("Authorizations", "GetItem"),
    "authorizations.take": table("Authorizations", "DeleteItem"),
    "authorizations.of": table("Authorizations", "Query", "BatchGetItem"),
    "authorizations.revoke": table("Authorizations", "Query", "BatchGetItem", "DeleteItem"),
    "budgets.spend": table("Budgets", "GetItem", "UpdateItem"),
    "blobs.put": files(FOLDER, "PutObject"),
    "blobs.get": files(FOLDER, "GetObject") | LISTING,
    "blobs.join": files(FOLDER, "GetObject", "PutObject"),
    "blobs.stream": files(FOLDER, "GetObject") | LISTING,
    "blobs.delete": files(FOLDER, "DeleteObject"),
    "blobs.drop": files(FOLDER, "DeleteObject") | LISTING,
    "blobs.link": files(FOLDER, "GetObject"),  # in the name of whoever signs the address
    "checkpoints.get": table("Checkpoints", "GetItem"),
    "checkpoints.all": table("Checkpoints", "GetItem", "Scan"),
    "checkpoints.advance": table("Checkpoints", "GetItem", "PutItem"),
    "checkpoints.set": table("Checkpoints", "GetItem", "PutItem"),
    "checkpoints.remove": table("Checkpoints", "GetItem", "DeleteItem"),
    "news.find": table("News", "BatchGetItem", "BatchWriteItem", "GetItem", "PutItem", "UpdateItem"),
    "news.record": table("News", "Query", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "UpdateItem"),
    "news.since": table("News", "Query"),
    "news.pmids": table("News", "Query"),
    "news.is_whole": table("News", "GetItem"),
    "news.set_whole": table("News", "PutItem"),
    "news.read_to": table("News", "GetItem"),
    "news.mark_read": table("News", "UpdateItem"),
    "news.forget": table("News", "Query", "BatchWriteItem", "DeleteItem"),
    "jobs.get": table("Jobs", "GetItem") | JOB,
    "jobs.latest": table("Jobs", "GetItem") | JOB,
    "jobs.newest": table("Jobs", "BatchGetItem") | JOB,
    "jobs.is_cancelled": table("Jobs", "GetItem"),
    "jobs.put": table("Jobs", "GetItem", "PutItem", "UpdateItem") | files("jobs", "PutObject"),
    "jobs.remove": table("Jobs", "DeleteItem"),
    "leases.acquire": table("Leases", "PutItem", "UpdateItem", "ConditionCheckItem"),
    "leases.take": table("Leases", "PutItem", "UpdateItem", "ConditionCheckItem"),
    "leases.release": table("Leases", "DeleteItem"),
    "continuations.send": frozenset({("sqs:SendMessage", f"{CONTINUATIONS}.Arn")}),
    "audit.record": table("Audit", "PutItem"),
    "announcements.publish": frozenset({("events:PutEvents", "EventBus.Arn")}) | table("Cache", "BatchWriteItem"),
}


def given_for(methods: Iterable[str], queue: str = CONTINUATIONS, folder: str = FOLDER) -> Given:
    """What methods of ports, as `documents.get`, take; `queue` is where continuations go, `folder` where files are,
    unless a method names another, as `blobs.get files` does.

    Raises `LookupError` for a method that has no row here.
    """
    whole = Given()
    for each in methods:
        method, _, of = each.partition(" ")
        port = method.partition(".")[0]
        if port not in VARIABLES or (not (grants := _grants(method)) and f"{port}.*" not in GRANTS):
            raise LookupError(f"scripts/port_grants.py does not say what {method} takes on AWS: add it to GRANTS")
        variables = (*VARIABLES[port], *MORE_VARIABLES.get(method, ()))
        whole |= Given(
            frozenset(variables), frozenset((action, _own(on, queue, of or folder)) for action, on in grants)
        )
    return whole


def _own(resource: str, queue: str, folder: str) -> str:
    """The resource of one function in the place of what stands for it in the rows."""
    return f"{queue}.Arn" if resource == f"{CONTINUATIONS}.Arn" else resource.replace(FOLDER, folder)


def _grants(method: str) -> frozenset[Grant]:
    return GRANTS.get(method, GRANTS.get(f"{method.partition('.')[0]}.*", frozenset()))
