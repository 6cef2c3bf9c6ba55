"""The web console: pages for people who open the server's address in a browser.

A page shows what one resource gives, which is read as every call is: with its scope, deadline, limits, audit record and
log line. The resources of pages are not in the catalogue, so MCP clients do not see them. Every page is whole without
scripts; htmx only spares loading it again.
"""
