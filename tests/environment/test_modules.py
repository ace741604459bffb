"""The six modules against plain Python, on every pair of tokens."""

import itertools

import pytest

from main_jax.environment.modules import MODULES, Vocabulary, get_modules
from main_jax.errors import UserError
from tests.tape_machine import call


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("base", [2, 10, 16])
def test_module_equals_plain_python_on_every_pair(name, base):
    vocabulary = Vocabulary(base, "$+*")
    for x, y in itertools.product(vocabulary.characters, repeat=2):
        token = MODULES[name].function(vocabulary, *vocabulary.encode(x + y))
        assert vocabulary.decode([token]) == call(name, x, y, base), (name, x, y)


def test_max_follows_ascii_order():
    vocabulary = Vocabulary(16, "$*+")
    in_order = sorted(
        vocabulary.characters, key=lambda c: vocabulary.ascii_rank[vocabulary.encode(c)[0]]
    )
    assert "".join(in_order) == "$*+.0123456789abcdef"


def test_unknown_module_is_named():
    with pytest.raises(UserError, match="'Product'"):
        get_modules("Sum", "Product")
