"""A tiny model under the Hugging Face Trainer."""

import tempfile

import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments


class Pairs(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        return {"inputs": torch.full((8,), index / 160), "labels": torch.tensor(index / 160)}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def forward(self, inputs, labels):
        outputs = self.layer(inputs).squeeze(-1)
        return {"loss": (outputs - labels).square().mean(), "logits": outputs}


torch.manual_seed(0)
net = Net()
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        num_train_epochs=1,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
        seed=0,
        logging_strategy="no",
    )
    Trainer(model=net, args=arguments, train_dataset=Pairs()).train()
print("weight", repr(net.layer.weight.sum().item()))
