"""Long work that is saved on the way, continued later and reported once; what each kind does is `plan`, `step`,
`finish`."""
