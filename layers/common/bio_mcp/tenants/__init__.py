"""What a tenant sees: papers, watermarks, syncs and the graph are everybody's; projects and all that comes of work with
them are its own."""

from bio_mcp.tenants.view import of_all_tenants as of_all_tenants
from bio_mcp.tenants.view import stored_name as stored_name
from bio_mcp.tenants.view import view as view
