"""Energy, money and carbon of a plan or a run, from dated rates with their sources."""
