"""The version, read by the build and shown by ``stepscope --version``."""

__version__ = "0.1.0"
