"""Files to sections: PDF, scans, DOCX, HTML, Markdown, JATS XML and plain text.

`isolated` is the port's adapter. It hands each file to `child`, a process with limits, since the libraries that read
such files hang and crash. There `reading` finds the kind of file and calls its reader.
"""
