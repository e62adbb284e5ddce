"""How waiting for the DataLoader is spelled, in every era and framework seen.

``enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__`` and its kin come from PyTorch since
1.8; ``enumerate(DataPipe)#...`` from torchdata; ``[...]train_dataloader_next`` from Lightning.
"""

LOADER_WAIT = (
    r"^enumerate\((DataLoader|DataPipe)\)|DataLoaderIter\.__next__|"
    r"(train|val|test|predict|eval)\w*_(dataloader_)?next$|^DataLoader\.__next__$"
)
"""A range with such a name is a wait for the next batch."""

SINGLE_PROCESS = "_SingleProcess"
"""In a name: the batch is made by the training process itself, ``num_workers=0``."""
