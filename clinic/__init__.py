"""Training programs with one planted bottleneck each, and how often it is named and its cure predicted."""
