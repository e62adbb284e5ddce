"""What the parts of stepscope share: tables as data, the run folder, the Report."""
