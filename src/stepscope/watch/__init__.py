"""Looking at a machine and at a running job: what is allocated, busy and working, and obvious mistakes."""
