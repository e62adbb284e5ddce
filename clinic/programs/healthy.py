"""Nothing is planted."""

from model import batches, make_model, train

train(make_model(), batches())
