"""An embedded index in S3: snapshots of a SQLite file, the changes made since, and a manifest that names both.

Every object but the manifest is named by the SHA-256 of its content and never changes. The manifest is replaced under a
condition, so one writer wins and a reader sees all of a change or nothing of it. Each process has a copy of the file on
its own disk: it downloads the snapshot once and carries out the changes that it lacks.
"""
