"""Which interchanges are tried, where nothing is proved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, final

from attemper.missing import has_torch
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import CausalVariable, Interchange
from attemper.theories.causal.check.settings import Interchanges

if TYPE_CHECKING:
    from attemper.theories.causal.search.interchanges import EveryWord


@final
class Trying:
    """Of a network and its variables, or of edges from these, what seems to go wrong in torch.

    Without torch these are some that are short, whatever the network does.
    """

    def __init__(self, network: Network, variables: Sequence[CausalVariable]) -> None:
        self.network, self.variables = network, variables

    def of(self, interchanges: Interchanges, up_to: int) -> Iterator[Interchange]:
        """On words of up to so many symbols. All that are asked of one `Trying` run each word once."""
        if self._every_word is None:
            return interchanges.short()
        from attemper.theories.causal.search.interchanges import suspects

        return suspects(interchanges, up_to, self._every_word)

    @cached_property
    def _every_word(self) -> EveryWord | None:
        if not has_torch():
            return None
        from attemper.theories.causal.search.interchanges import EveryWord

        return EveryWord(self.network, self.variables)
