"""`sam local invoke` with a Docker engine and a base image that need no registry."""
