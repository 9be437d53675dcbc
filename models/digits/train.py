"""Trains the handwritten digit classifier of the demo and writes it as StableHLO.

    pip install -r requirements.txt
    python train.py

Writes digits.mlirbc, images.u8 and labels.u8 beside this file; README.md says what they hold.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxlib.mlir.dialects import stablehlo
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = Path(__file__).resolve().parent
SEED = 2
HELD_OUT = 360
WIDTHS = (64, 96, 48, 10)
STEPS = 6000
BATCH = 128
PEAK_RATE = 3e-3
WEIGHT_DECAY = 1e-2

# The oldest StableHLO that any supported plugin could want. The model uses
# nothing newer, and a plugin refuses bytecode from its own future.
STABLEHLO_VERSION = "1.0.0"


def initial_weights(key):
    layers = []
    for fan_in, fan_out in zip(WIDTHS, WIDTHS[1:]):
        key, layer_key = jax.random.split(key)
        scale = np.sqrt(2.0 / fan_in)
        layers.append((scale * jax.random.normal(layer_key, (fan_in, fan_out)), jnp.zeros(fan_out)))
    return layers


def logits(layers, pixels):
    """Scores of ten digits for images given as pixels from 0 (paper) to 16 (ink)."""
    x = pixels / 8.0 - 1.0
    for weights, bias in layers[:-1]:
        x = jax.nn.relu(x @ weights + bias)
    weights, bias = layers[-1]
    return x @ weights + bias


def shifted(key, pixels):
    """Moves each image by at most one pixel in each direction, so that position matters less."""
    padded = jnp.pad(pixels.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    corners = jax.random.choice(key, 3, (len(pixels), 2), p=jnp.array([0.2, 0.6, 0.2]))
    crop = lambda image, corner: jax.lax.dynamic_slice(image, corner, (8, 8))
    return jax.vmap(crop)(padded, corners).reshape(-1, 64)


def loss(layers, pixels, labels):
    scores = jax.nn.log_softmax(logits(layers, pixels))
    return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()


def train(pixels, labels):
    """Adam with decoupled weight decay; the rate rises for 200 steps, then follows a cosine to zero."""
    tree = jax.tree_util

    def step(state, number):
        layers, mean, square, key = state
        key, pick_key, shift_key = jax.random.split(key, 3)
        picked = jax.random.choice(pick_key, len(pixels), (BATCH,), replace=False)
        gradient = jax.grad(loss)(layers, shifted(shift_key, pixels[picked]), labels[picked])
        mean = tree.tree_map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = tree.tree_map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradient)
        rate = PEAK_RATE * jnp.minimum((number + 1) / 200, 0.5 + 0.5 * jnp.cos(jnp.pi * number / STEPS))
        correct_mean = 1 / (1 - 0.9 ** (number + 1.0))
        correct_square = 1 / (1 - 0.999 ** (number + 1.0))

        def updated(weight, m, s):
            adam = correct_mean * m / (jnp.sqrt(correct_square * s) + 1e-8)
            return weight - rate * (adam + WEIGHT_DECAY * weight)

        return (tree.tree_map(updated, layers, mean, square), mean, square, key), None

    init_key, key = jax.random.split(jax.random.key(SEED))
    layers = initial_weights(init_key)
    zeros = tree.tree_map(jnp.zeros_like, layers)
    state, _ = jax.lax.scan(step, (layers, zeros, zeros, key), jnp.arange(STEPS))
    return state[0]


def lowered_classifier(layers):
    """The program of one image: probabilities of the ten digits, the weights inside as constants."""

    def digits(pixels):
        return jax.nn.softmax(logits(layers, pixels))

    return jax.jit(digits).lower(jax.ShapeDtypeStruct((1, 64), jnp.float32))


def report(name, classifier, pixels, labels):
    answers = [int(classifier(image[None]).argmax()) for image in pixels]
    right = int((np.array(answers) == labels).sum())
    print(f"{name}: {right} of {len(labels)} right ({right / len(labels):.2%})")


def main():
    data = load_digits()
    train_x, test_x, train_y, test_y = train_test_split(
        data.data.astype(np.float32), data.target.astype(np.int32),
        test_size=HELD_OUT, random_state=SEED, stratify=data.target)
    lowered = lowered_classifier(jax.jit(train)(train_x, train_y))
    # As text the program has no source locations, which would tell the folder that it was made in.
    bytecode = stablehlo.serialize_portable_artifact_str(lowered.as_text(), STABLEHLO_VERSION)
    (HERE / "digits.mlirbc").write_bytes(bytecode)
    (HERE / "images.u8").write_bytes(test_x.astype(np.uint8).tobytes())
    (HERE / "labels.u8").write_bytes(test_y.astype(np.uint8).tobytes())
    classifier = lowered.compile()
    report("training images", classifier, train_x, train_y)
    report("held-out images", classifier, test_x, test_y)


if __name__ == "__main__":
    main()
