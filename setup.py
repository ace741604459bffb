"""Packaging; exact versions of everything are in constraints.txt."""

from pathlib import Path

from setuptools import find_packages, setup

CLUSTER = ["ray>=2.40"]
PROOF = ["z3-solver>=4.13"]
TEST = [
    *("hypothesis>=6.100", "pytest>=8", "pytest-xdist>=3.5", "ruff>=0.6"),
    *("ipykernel>=6", "nbclient>=0.10", "nbformat>=5.10", "selenium>=4.20"),
]

setup(
    name="main_jax",
    version="0.1.0",
    description="Modular Algorithm Induction Network (MAIN) in JAX",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=find_packages(include=["main_jax", "main_jax.*", "baselines"]),
    package_data={"main_jax.report": ["assets/*"]},
    install_requires=[
        "absl-py>=2.1",
        "chex>=0.1.90",
        "dm-env>=1.6",
        "flatbuffers>=24",
        "flax>=0.12",
        "jax>=0.7",
        "matplotlib>=3.8",
        "ml-collections>=1.0",
        "msgpack>=1.0",
        "numpy>=2.0",
        "optax>=0.2.5",
        "orbax-checkpoint>=0.11",
        "psutil>=5.9",
        "rich>=13",
        "rlax>=0.1.8",
        "tensorboardX>=2.6",
    ],
    extras_require={
        "test": [*TEST, *CLUSTER, *PROOF, "cvc5>=1.2"],
        "benchmark": ["torch>=2.6", *CLUSTER],
        "cluster": CLUSTER,
        "proof": PROOF,
        "cuda": ["jax[cuda12]>=0.7"],
        "tpu": ["jax[tpu]>=0.7"],
    },
)
