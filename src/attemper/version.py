"""The version, in a module of its own: who says it need not import the package's public names."""

__version__ = "0.22.0"
