"""Speed and memory beside other tools; see README.md."""
