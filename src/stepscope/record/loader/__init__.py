"""Times the making of batches in the process that makes them: a loader's worker, or the one that trains.

Nothing here is imported into a worker but by :class:`~stepscope.record.loader.worker.MeteredLoop`, which
PyTorch carries there, whichever way the worker is started.
"""
