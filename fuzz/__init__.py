"""The mutation fuzzer: traces damaged in every way, read and analysed, and what must hold of the result."""
