"""Planted: a confusion matrix, counted in Python in every step. Fixed: in every hundredth."""

from model import CLASSES, batches, make_model, options, train

matrix = [[0] * CLASSES for _ in range(CLASSES)]
counted = 0
every = 100 if options().fixed else 1


def count(model, outputs, labels, loss):
    """Count every pair of classes, more slowly than needed."""
    global counted
    counted += 1
    if counted % every:
        return
    rows = outputs.tolist()
    for row, label in zip(rows, labels.tolist(), strict=True):
        order = sorted(range(CLASSES), key=row.__getitem__)
        for rank, guess in enumerate(order):
            for power in range(6):
                matrix[label][guess] += rank**power % 7
    for row in matrix:
        row.sort()


train(make_model(), batches(), after=count)
