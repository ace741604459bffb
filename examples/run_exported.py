"""Runs a program that launch/export.py wrote, on one tape; needs `pip install jax flatbuffers`.

python examples/run_exported.py controller.stablehlo '1234$....'

A controller that was trained with an oracle does not stop by itself, but at the answer given last.
"""

import json
import sys

import numpy as np
from jax import export

path, tape, *expected = sys.argv[1:]
with open(path, "rb") as program, open(f"{path}.json") as description:
    controller = export.deserialize(bytearray(program.read()))
    about = json.load(description)
landmarks = [*map(tape.index, about["landmarks"][:-2]), 0, len(tape) - 1]
heads, module = [-1, -1, -1], -1  # no step taken yet
for step in range(2 * len(tape)):
    print(f"{step:4d}  {tape}")
    if expected and tape.endswith(expected[0]):
        break
    tokens = [about["characters"].index(character) for character in tape]
    batch = [np.array([x], np.int32) for x in (tokens, len(tape), landmarks, heads, module)]
    head_logits, module_logits, value = controller.call(*batch)
    heads, module = np.argmax(head_logits[0], axis=-1), int(np.argmax(module_logits[0]))
    if module == about["halt"]:
        break
    read_1, read_2, write = heads
    result = about["results"][module][tokens[read_1]][tokens[read_2]][0]
    tape = tape[:write] + about["characters"][result] + tape[write + 1 :]
