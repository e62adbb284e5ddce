"""One module a command; ``main`` builds the command line from them."""
