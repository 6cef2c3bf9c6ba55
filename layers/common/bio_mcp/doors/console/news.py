"""The page of news: what became of the papers of a followed query, the newest first."""

from bio_mcp.doors.console.pages import CONSOLE, Page
from bio_mcp.ports import Backends
from bio_mcp.syncing.news import NewsItem, latest_news
from bio_mcp.tool import Response, resource
from bio_mcp.tools.news import News, news_of

MOST_ENTRIES = 100


class NewsPageShown(Response):
    """The followed queries, and the news of the one that is asked for, if one is."""

    queries: list[str]
    query_key: str
    news: list[News]
    more: bool
    warnings: list[str]


@resource("console://news", name="news page", family=CONSOLE, scope="read", timeout=10)
def news_page(backends: Backends, query_key: str = "") -> NewsPageShown:
    """What became of the papers of a query."""
    queries = list(dict.fromkeys(each.query_key for each in backends.checkpoints.all()))
    query_key = query_key or (queries[0] if len(queries) == 1 else "")
    page = latest_news(query_key, MOST_ENTRIES, backends) if query_key else None
    return NewsPageShown(
        queries=queries,
        query_key=query_key,
        news=[_shown(each) for each in page.items] if page else [],
        more=page.more if page else False,
        warnings=page.warnings if page else [],
    )


def _shown(item: NewsItem) -> News:
    """The item with every field, also those that an answer leaves out."""
    return News(**news_of(item).model_dump())


PAGE = Page("/news", "news.html", news_page, "News", takes=("query_key",))
