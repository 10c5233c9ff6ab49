#!/usr/bin/env python3
"""The programs here, written with JAX: jax.jit on the CPU backend, with doubles.

    python3 peers.py gmm -e derivative -r 10 -t times -n < gmm.in
    python3 peers.py gmm -e derivative -b < gmm.in > gmm.out

Reads, writes and measures as the executables that Futhark's compiler makes. The formulas are those of the programs in Futhark, over
whole arrays and with products of matrices where that is quicker here.
"""

import argparse
import math
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.nn import logsumexp, sigmoid

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

TYPES = {"f64": "<f8", "i64": "<i8"}


def gradient(function, by):
    """The entry points of a program that gives a number and is derived by these arguments in reverse mode."""
    return {"primal": function, "derivative": jax.grad(function, argnums=by)}


def gmm(points, weights, centres, logs, lower):
    factors = jnp.exp(logs)[:, :, None] * jnp.eye(logs.shape[1]) + jnp.tril(lower, -1)
    rows = jnp.einsum("kij,nj->nki", factors, points) - jnp.einsum("kij,kj->ki", factors, centres)
    parts = weights + jnp.sum(logs, axis=1) - 0.5 * jnp.sum(rows**2, axis=2)
    return jnp.sum(logsumexp(parts, axis=1)) - len(points) * logsumexp(weights)


def kmeans(points, centres):
    # Of a squared distance what depends on the centre says which is nearest.
    nearest = jnp.argmin(jnp.sum(centres**2, axis=1) - 2 * points @ centres.T, axis=1)
    return jnp.sum((points - centres[nearest]) ** 2)


def mnist(pictures, digits, weights, bias, weights_out, bias_out):
    features = jnp.maximum(0, pictures @ weights.T + bias)
    scores = features @ weights_out.T + bias_out
    right = jnp.take_along_axis(scores, digits[:, None], axis=1)[:, 0]
    return jnp.mean(logsumexp(scores, axis=1) - right)


def lstm(sequence, states, layers, ends):
    def through(layer, hidden, cell, x):
        weight, bias = layer
        forget, leave = (sigmoid(x * weight[g] + bias[g]) for g in (0, 2))
        enter = sigmoid(hidden * weight[1] + bias[1])
        cell = cell * forget + enter * jnp.tanh(hidden * weight[3] + bias[3])
        return leave * jnp.tanh(cell), cell

    def step(states, both):
        now, following = both
        x, after = now * ends[0], []
        for layer, (hidden, cell) in zip(layers, states):
            x, cell = through(layer, hidden, cell, x)
            after.append(jnp.stack([x, cell]))
        guess = x * ends[1] + ends[2]
        norm = jnp.log(jnp.sum(jnp.exp(guess)) + 2)
        return jnp.stack(after), jnp.sum((guess - norm) * following)

    _, parts = lax.scan(step, states, (sequence[:-1], sequence[1:]))
    return -jnp.sum(parts) / parts.size / sequence.shape[1]


def turned(axis, p):
    square = axis @ axis
    # Both branches are derived: the one that is not taken must have a derivative as well.
    angle = jnp.sqrt(jnp.where(square == 0, 1, square))
    unit = axis / angle
    s, c = jnp.sin(angle), jnp.cos(angle)
    rotated = c * p + s * jnp.cross(unit, p) + (unit @ p) * (1 - c) * unit
    return jnp.where(square == 0, p + jnp.cross(axis, p), rotated)


def off(camera, point, weight, at):
    q = turned(camera[:3], point - camera[3:6])
    uv = q[:2] / q[2]
    r = uv @ uv
    return weight * (uv * (1 + camera[9] * r + camera[10] * r * r) * camera[6] + camera[7:9] - at)


def ba(cameras, points, weights, sights, at):
    offs = jax.vmap(off)(cameras[sights[:, 0]], points[sights[:, 1]], weights, at)
    return offs[:, 0], offs[:, 1]


def ba_derivative(cameras, points, weights, sights, at):
    by = jax.vmap(jax.jacrev(off, argnums=(0, 1, 2)))
    camera, point, weight = by(cameras[sights[:, 0]], points[sights[:, 1]], weights, at)
    return jnp.concatenate([camera, point, weight[:, :, None]], axis=2)


def turn(first, third):
    s, c, t, d = jnp.sin(first), jnp.cos(first), jnp.sin(third), jnp.cos(third)
    zero, one = jnp.zeros_like(s), jnp.ones_like(s)
    rows = [[d, -c * t, s * t, zero], [t, c * d, -s * d, zero], [zero, s, c, zero], [zero, zero, zero, one]]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def bends(pose, bones):
    """Both angles of each bone."""
    first, third = jnp.zeros(bones), jnp.zeros(bones)
    for finger in range(5):
        bone, own = 2 + 4 * finger, 6 + 4 * finger
        first = first.at[bone : bone + 3].set(pose[jnp.array([own, own + 2, own + 3])])
        third = third.at[bone].set(pose[own + 1])
    return first, third


def hand(parents, relative, inverse, weights, vertices, triangles, nearest, measured, pose, shares):
    own = relative @ turn(*bends(pose, len(parents)))

    def follow(bone, absolute):
        parent = parents[bone]
        return absolute.at[bone].set(jnp.where(parent < 0, own[bone], absolute[parent] @ own[bone]))

    moves = lax.fori_loop(0, len(parents), follow, own) @ inverse
    moved = jnp.einsum("mb,bij,mj->mi", weights, moves[:, :3], vertices)
    rotation = jax.vmap(turned, (None, 0))(pose[:3], jnp.eye(3))
    placed = moved @ rotation + pose[3:6]
    if len(shares) == 0:
        return measured - placed[nearest]
    first, second, third = (placed[corner] for corner in triangles[nearest].T)
    a, b = shares[:, :1], shares[:, 1:]
    return measured - (a * first + b * second + (1 - a - b) * third)


def hand_derivative(*arguments):
    *fixed, pose, shares = arguments

    def along(k):
        direction = (jnp.arange(26) == k, jnp.broadcast_to(jnp.arange(26, 28) == k, shares.shape))
        return jax.jvp(lambda *by: hand(*fixed, *by), (pose, shares), tuple(d.astype(float) for d in direction))[1]

    return jax.vmap(along)(jnp.arange(28 if len(shares) else 26))


PROGRAMS = {
    "gmm": gradient(gmm, (1, 2, 3, 4)),
    "ba": {"primal": ba, "derivative": ba_derivative},
    "lstm": gradient(lstm, (2, 3)),
    "kmeans": gradient(kmeans, 1),
    "hand": {"primal": hand, "derivative": hand_derivative},
    "mnist": gradient(mnist, (2, 3, 4, 5)),
}


def read(data):
    """Arrays in Futhark's binary format."""
    found, at = [], 0
    while at < len(data):
        rank, of = data[at + 2], np.dtype(TYPES[data[at + 3 : at + 7].decode().strip()])
        at += 7 + 8 * rank
        shape = np.frombuffer(data[at - 8 * rank : at], "<i8")
        end = at + math.prod(shape.tolist()) * of.itemsize
        found.append(np.frombuffer(data[at:end], of).reshape(shape))
        at = end
    return found


def write(array):
    array = np.asarray(array, "<f8", order="C")
    head = b"b\x02" + bytes([array.ndim]) + b" f64" + np.array(array.shape, "<i8").tobytes()
    sys.stdout.buffer.write(head + array.tobytes())


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", choices=PROGRAMS)
    options.add_argument("-e", dest="entry", default="primal")
    options.add_argument("-r", dest="runs", type=int, default=1, help="runs after one that is not measured")
    options.add_argument("-t", dest="times", help="the file for the microseconds of each run")
    results = options.add_mutually_exclusive_group(required=True)
    results.add_argument("-n", dest="silent", action="store_true", help="print no results")
    results.add_argument("-b", dest="silent", action="store_false", help="print results in the binary format")
    chosen = options.parse_args()
    arguments = [jnp.asarray(array) for array in read(sys.stdin.buffer.read())]
    function = jax.jit(PROGRAMS[chosen.program][chosen.entry])
    result = jax.block_until_ready(function(*arguments))
    took = []
    for _ in range(chosen.runs if chosen.times else 0):
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        took.append(round((time.perf_counter() - start) * 1e6))
    if chosen.times:
        with open(chosen.times, "w") as out:
            out.writelines(f"{each}\n" for each in took)
    if not chosen.silent:
        for array in result if isinstance(result, tuple) else (result,):
            write(array)


if __name__ == "__main__":
    main()
