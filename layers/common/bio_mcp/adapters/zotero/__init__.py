"""Libraries of Zotero: by its web API, by a running Zotero, and from the files of one."""
