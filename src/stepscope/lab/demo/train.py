"""Train a small network to tell shapes apart, on images that it first draws into a folder.

An ordinary training script. It knows nothing of the tool that watches it.
"""

import argparse
import math
import tempfile
from pathlib import Path

import torch
from PIL import Image, ImageDraw, ImageFilter
from torch import nn
from torch.utils.data import DataLoader, Dataset

SHAPES = ("circle", "square", "triangle", "cross")


def draw(shape, size, generator):
    """One image: a shape of random colour, place and size on a noisy background."""

    def between(low, high):
        return low + (high - low) * torch.rand((), generator=generator).item()

    noise = torch.randint(0, 96, (size, size, 3), dtype=torch.uint8, generator=generator)
    image = Image.fromarray(noise.numpy())
    pen = ImageDraw.Draw(image)
    colour = tuple(int(between(128, 255)) for _ in range(3))
    x, y, radius = between(0.3, 0.7) * size, between(0.3, 0.7) * size, between(0.12, 0.25) * size
    if shape == "circle":
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
    elif shape == "cross":
        pen.line((x - radius, y, x + radius, y), fill=colour, width=size // 16)
        pen.line((x, y - radius, x, y + radius), fill=colour, width=size // 16)
    else:
        corners = 4 if shape == "square" else 3
        turns = [2 * math.pi * (corner + 0.5) / corners for corner in range(corners)]
        pen.polygon(
            [(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns],
            fill=colour,
        )
    return image


def write_images(folder, count, size):
    """Draw the data set as PNG files whose names begin with their class."""
    generator = torch.Generator().manual_seed(1)
    for number in range(count):
        shape = SHAPES[number % len(SHAPES)]
        image = draw(shape, size, generator)
        image.save(folder / f"{shape}-{number:04d}.png", compress_level=1)


class ImageFolder(Dataset):
    """Reads, blurs, scales and normalises one PNG file at a time."""

    def __init__(self, folder, side):
        self.paths = sorted(folder.glob("*.png"))
        self.side = side

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        with Image.open(path) as image:
            smooth = image.convert("RGB").filter(ImageFilter.GaussianBlur(2))
        small = smooth.resize((self.side, self.side), Image.Resampling.LANCZOS)
        pixels = torch.frombuffer(bytearray(small.tobytes()), dtype=torch.uint8)
        pixels = pixels.reshape(self.side, self.side, 3).permute(2, 0, 1).float()
        return pixels / 127.5 - 1, SHAPES.index(path.name.partition("-")[0])


def make_model():
    """A convolutional network of about 100,000 parameters."""

    def block(before, after):
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )

    return nn.Sequential(
        block(3, 16),
        block(16, 32),
        block(32, 64),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, len(SHAPES)),
    )


def train(folder, options):
    """Train for the given number of steps; returns the last loss."""
    loader = DataLoader(
        ImageFolder(folder, options.side),
        batch_size=options.batch_size,
        shuffle=True,
        num_workers=options.workers,
        drop_last=True,
    )
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)
    loss_function = nn.CrossEntropyLoss()
    step = 0
    while step < options.steps:
        for images, labels in loader:
            loss = loss_function(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0 or step == options.steps:
                print(f"step {step:3d}  loss {loss.item():.4f}", flush=True)
            if step == options.steps:
                break
    return loss.item()


def parse_arguments():
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50, help="training steps (default: 50)")
    parser.add_argument("--workers", type=int, default=0, help="loader workers (default: 0)")
    parser.add_argument("--images", type=int, default=128, help="images to draw (default: 128)")
    parser.add_argument(
        "--size", type=int, default=256, help="their width in pixels (default: 256)"
    )
    parser.add_argument("--side", type=int, default=32, help="width after scaling (default: 32)")
    parser.add_argument("--batch-size", type=int, default=16, help="images per step (default: 16)")
    parser.add_argument("--learning-rate", type=float, default=0.003, help="(default: 0.003)")
    return parser.parse_args()


def main():
    """Draw the images, train on them, and remove them."""
    options = parse_arguments()
    torch.manual_seed(0)
    # A network this small gains nothing from more threads, and on a busy machine they wait for each other.
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_images(folder, options.images, options.size)
        print(f"{options.images} images of {options.size} x {options.size} pixels", flush=True)
        train(folder, options)


if __name__ == "__main__":
    main()
