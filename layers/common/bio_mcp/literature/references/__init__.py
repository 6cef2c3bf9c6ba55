"""Lists of references, as people and programs write them, and what their records say. Pure: nothing is fetched."""
