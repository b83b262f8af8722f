import random
from attemper.languages.temporal.syntax import *
from attemper.exact.predicates import Remainder
from tests.support.samples import PAST_UNARY, PAST_BINARY


def past(rng, n, symbols="abc"):
    if n <= 0:
        r = rng.random()
        return (
            First() if r < 0.08 else Constant(rng.random() < 0.5) if r < 0.12 else Symbol(rng.choice(symbols))
        )
    r = rng.random()
    if r < 0.12:
        body = past(rng, n - 1, symbols)
        m = rng.randint(2, 3)
        return Numerical(Remainder(m, rng.randrange(m)), linear_term(((1, CountAtom(Side.LEFT, body)),), 0))
    if r < 0.45:
        return Unary(rng.choice(PAST_UNARY), past(rng, n - 1, symbols))
    k = rng.randint(0, n - 1)
    return Binary(rng.choice(PAST_BINARY), past(rng, k, symbols), past(rng, n - 1 - k, symbols))
