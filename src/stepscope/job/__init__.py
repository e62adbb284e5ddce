"""Many ranks: one rank a task to a small digest, and what only several ranks together can tell."""
