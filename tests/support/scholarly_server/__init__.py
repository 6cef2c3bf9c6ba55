"""A local server that answers as iCite, Crossref, Europe PMC and Unpaywall do."""
