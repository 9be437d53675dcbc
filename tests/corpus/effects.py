"""Programs with effects: tokens of those that have an order go in and out beside the arrays."""

import jax
from jax._src import core, effects
from jax._src.interpreters import mlir
from jax._src.lib.mlir.dialects import hlo

from catalogue import VERSION, f32, program, s32


class Effect(effects.Effect):
    """All of a class are one effect, known by its name."""

    def __str__(self):
        return type(self).__name__

    def __hash__(self):
        return hash(str(self))

    def __eq__(self, other):
        return str(self) == str(other)


class FirstOrdered(Effect):
    pass


class OtherOrdered(Effect):
    pass


class Unordered(Effect):
    pass


for kind in (FirstOrdered, OtherOrdered, Unordered):
    effects.lowerable_effects.add_type(kind)
for kind in (FirstOrdered, OtherOrdered):
    effects.ordered_effects.add_type(kind)


def lowered(context, x, *, effect):
    """Doubles, and orders itself behind what came before it."""
    if effects.ordered_effects.contains(effect):
        before = context.tokens_in.get(effect)
        # Older versions hand out a tuple of one.
        after = (hlo.after_all(before),) if VERSION < (0, 4, 36) else hlo.after_all([before])
        context.set_tokens_out(mlir.TokenSet({effect: after}))
    return [hlo.add(x, x)]


touch_p = core.Primitive("touch")
touch_p.def_effectful_abstract_eval(lambda x, *, effect: (x, {effect}))
mlir.register_lowering(touch_p, lowered)


def touch(x, kind):
    return touch_p.bind(x, effect=kind())


@program(f32(3))
def ordered_effect(x):
    return touch(touch(x, FirstOrdered), FirstOrdered) + 1


@program(f32(3))
def unordered_effect(x):
    return touch(x, Unordered)


@program(f32(2), s32(3), f32(2), platforms=("tpu", "cpu"), jit={"donate_argnums": 2})
def several_effects(dropped, n, x):
    """Positions shift by a platform index, two tokens and a dropped argument."""
    x = touch(touch(x, OtherOrdered), Unordered)
    where = jax.lax.platform_dependent(n, tpu=lambda n: n + 7, cpu=lambda n: n + 5)
    return touch(x, FirstOrdered), where
