"""Reviews of literature: which paper to look at next, when to stop, and the counts that a report must have."""
