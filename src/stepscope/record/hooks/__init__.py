"""Where the recorder listens: optimizers, loaders, other profilers, and the import of torch.

Each hook changes one thing in PyTorch, passes what happens there on to the recorder, and puts the
thing back when it is removed.
"""
