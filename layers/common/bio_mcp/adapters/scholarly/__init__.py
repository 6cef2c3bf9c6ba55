"""Services about papers beside NCBI: iCite, Crossref, Europe PMC and Unpaywall."""
