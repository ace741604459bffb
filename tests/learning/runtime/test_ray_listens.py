"""Where the processes of a local Ray cluster listen: on loopback, and nowhere else."""

import os
import subprocess
import sys

import pytest

from tests.helpers import ROOT

pytestmark = pytest.mark.slow
pytest.importorskip("ray")
SCRIPT = """
import ipaddress, os, psutil, subprocess, sys
from main_jax.learning.runtime import ray as runtime
import ray
runtime.connect("local")
answer = ray.remote(lambda: os.getpid()).remote()
ray.get(answer)
own = [psutil.Process(), *psutil.Process().children(recursive=True)]
listening = [
    (process.name(), connection.laddr.ip)
    for process in own for connection in process.net_connections("inet")
    if connection.status == psutil.CONN_LISTEN
]
assert len(listening) >= 5, listening
outside = [
    (name, ip) for name, ip in listening
    if not ipaddress.ip_address(ip.removeprefix("::ffff:")).is_loopback
]
assert not outside, outside
address = ray.get_runtime_context().gcs_address
ask = "from ray._raylet import GcsClient; "
ask += f"GcsClient(address={address!r}).get_all_node_info(timeout=5)"
def code(**environment):
    return subprocess.run([sys.executable, "-c", ask], env=os.environ | environment).returncode
assert code() == 0
assert code(RAY_AUTH_TOKEN="0" * 64) != 0
assert code(RAY_AUTH_MODE="disabled", RAY_AUTH_TOKEN="") != 0
print("on loopback, with a token")
"""


def test_local_cluster_listens_on_loopback_and_asks_for_a_token(tmp_path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_AUTH")}
    environment |= {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300, env=environment
    )
    assert result.returncode == 0, result.stderr
    assert "on loopback, with a token" in result.stdout
    assert not (tmp_path / ".ray").exists()  # the token stands in no file
