"""Programs and notebooks that teach: data, and how they are started."""
