"""Passages in OpenSearch: a managed domain of AWS's, a Serverless collection, or a node of one's own.

`passages` is the port; it asks by `queries`, writes by `bulk` what `documents` makes, into the index that `index` finds
and `schema` describes; `indexes` has a second one beside it. `transport` sends and tries again, by `connection`,
which is opensearch-py's (`library`), signed by `sigv4`.
"""
