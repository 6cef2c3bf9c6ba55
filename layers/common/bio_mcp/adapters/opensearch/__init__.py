"""The indexes of papers and projects in OpenSearch: AWS's managed domain, a Serverless collection, or an own node.

`index` is what both are: it finds, makes, searches, reads and writes an index that `schema` describes. `passages` has
the papers, `collections` the projects, whose chunks are documents by `chunks`. `client` sends and tries again, by
opensearch-py.
"""
