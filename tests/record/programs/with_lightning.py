"""Two epochs of Lightning with a validation loader, which is also read before training."""

import logging
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
import lightning  # noqa: E402
import torch  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, _):
        return self.layer(batch[0]).square().mean()

    def validation_step(self, batch, _):
        self.layer(batch[0])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


lightning.seed_everything(0, verbose=False)
data = TensorDataset(torch.randn(80, 8))
net = Net()
trainer = lightning.Trainer(
    accelerator="cpu",
    max_epochs=2,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(net, DataLoader(data, batch_size=4, shuffle=True), DataLoader(data, batch_size=20))
print("weight", repr(net.layer.weight.sum().item()))
