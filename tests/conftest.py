"""Before JAX is imported: four fake devices, and one compilation cache for all test processes."""

import gc
import os
import re
import tempfile
from pathlib import Path

import pytest

MANY_MAPS = 25_000

# Tests compile far more than they compute. Flags that are set already stay, so that the tests can
# be tried with others: --xla_cpu_max_isa=AVX2, --xla_backend_optimization_level=3.
GIVEN = os.environ.get("XLA_FLAGS", "")
WANTED = {
    "--xla_force_host_platform_device_count": 4,
    "--xla_backend_optimization_level": 0,
}
EXTRA = [f"{flag}={value}" for flag, value in WANTED.items() if flag not in GIVEN]
os.environ["XLA_FLAGS"] = " ".join([*GIVEN.split(), *EXTRA])
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", tempfile.mkdtemp(prefix="main_jax_test_compilations_")
)

from main_jax import cli  # noqa: E402

cli.prepare_host()


@pytest.fixture(autouse=True, scope="module")
def room_for_programs():
    """Forgets compiled programs before they are too many.

    Each takes some of the memory maps that Linux allows a process, 65,530; without any left, XLA
    crashes in the middle of compiling.
    """
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > MANY_MAPS:
        import jax

        jax.clear_caches()
        gc.collect()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from tests.browser import Browser

    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(autouse=True)
def quiet(request):
    """No test may leave a complaint in the console, or have asked for anything but its page."""
    yield
    if "browser" in request.fixturenames:
        browser = request.getfixturevalue("browser")
        assert browser.complaints() == []
        addresses = set(browser.requests())
        assert addresses and all(re.match("file:|data:,$|about:", a) for a in addresses), addresses


def pytest_terminal_summary(terminalreporter):
    from tests.browser import NO_BROWSER

    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(NO_BROWSER in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.section("BROWSER TESTS DID NOT RUN", red=True, bold=True)
        terminalreporter.write_line(f"{count} tests of pages were skipped: {NO_BROWSER}")
