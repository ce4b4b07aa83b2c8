"""clew's default engine with the constructor and the inner methods that engines for Hermes subclass and override."""

from __future__ import annotations

import inspect
import time
from typing import Any, ClassVar

from clew.core.pairs import exchanges, legal_cuts, repair
from clew.engines import boundaries
from clew.engines.actions import read_actions
from clew.engines.handoff import GUIDANCE, OPENING, first_prompt, sections_of, unwrap, update_prompt
from clew.engines.hosted import fitting
from clew.engines.prune import prune
from clew.engines.telling import tell
from clew.engines.veil import veil
from clew.facts.messages import read_messages
from clew.runtime import compressor
from clew.runtime.compressor import CompactionResult
from clew.runtime.hermes.engine import ContextEngine
from clew.runtime.own_engine import Messages
from clew.runtime.plugins.host import Host

SUMMARY_PREFIX = f"{OPENING} {GUIDANCE}"


class ContextCompressor(compressor.ContextCompressor, ContextEngine):
    """`agent.context_compressor.ContextCompressor`. Arguments that clew has no use for are taken and left alone."""

    _host: ClassVar[Host]
    """Set on a subclass made for one plug-in."""

    def __init__(
        self,
        model: str = "",
        threshold_percent: float = 0.50,
        protect_first_n: int = 3,
        protect_last_n: int = 20,
        summary_target_ratio: float = 0.20,
        quiet_mode: bool = False,
        summary_model_override: str | None = None,
        base_url: str = "",
        api_key: Any = "",
        config_context_length: int | None = None,
        provider: str = "",
        api_mode: str = "",
        abort_on_summary_failure: bool = False,
        max_tokens: int | None = None,
        threshold_tokens_cap: int | None = None,
        **others: Any,  # noqa: ARG002
    ) -> None:
        self.model, self.base_url, self.api_key, self.provider, self.api_mode = (
            model,
            base_url,
            api_key,
            provider,
            api_mode,
        )
        self.quiet_mode, self.max_tokens, self.summary_model = quiet_mode, max_tokens, summary_model_override or ""
        self.protect_first_n, self.protect_last_n = protect_first_n, protect_last_n
        self.summary_target_ratio, self.threshold_tokens_cap = summary_target_ratio, threshold_tokens_cap
        self.abort_on_summary_failure = abort_on_summary_failure
        self._previous_summary: str | None = None
        self._summary_failure_cooldown_until = 0.0
        self._last_summary_error: str | None = None
        self._last_compress_aborted = self._last_summary_fallback_used = self._last_compression_made_progress = False
        super().__init__(
            config_context_length or 200_000,
            threshold=min(max(threshold_percent, 0.05), 0.95),
            target_ratio=min(max(summary_target_ratio, 0.05), 0.80),
            protect_first_n=protect_first_n,
            protect_last_n=protect_last_n,
            summarise=self._summed_up,
        )
        self._leaving: list[dict[str, Any]] = []
        self._focus: tuple[str | None, str] = (None, "")
        self._written: str | None = None

    def update_model(  # Hermes hands these over in order
        self,
        model: str,
        context_length: int,
        base_url: str = "",
        api_key: Any = "",
        provider: str = "",
        api_mode: str = "",
        max_tokens: int | None = None,
        **others: Any,  # noqa: ARG002
    ) -> None:
        self.model, self.base_url, self.api_key, self.provider, self.api_mode = (
            model,
            base_url,
            api_key,
            provider,
            api_mode,
        )
        super().update_model(model, context_length, max_tokens=max_tokens or 0)
        if self.threshold_tokens_cap:
            self.threshold_tokens = min(self.threshold_tokens, self.threshold_tokens_cap)

    @property
    def tail_token_budget(self) -> int:
        return self.budget.tail

    def compress(
        self,
        messages: Messages,
        current_tokens: int | None = None,  # noqa: ARG002
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str = "",
        **others: Any,  # noqa: ARG002
    ) -> list[dict[str, Any]]:
        if force:
            self._clear_compression_failure_cooldown()
        where = boundaries.plan(read_messages(messages), self.budget, self.policy, self.scale)
        self._leaving = [where.messages[place].to_dict() for place in where.middle]
        self._focus = (focus_topic, memory_context)
        self._previous_summary = where.previous or self._previous_summary
        self._last_summary_error = self._written = None
        done = self.compacted(messages, focus_topic)
        self._after(done)
        return done.messages

    def _after(self, done: CompactionResult) -> None:
        """What a host for Hermes reads off an engine after a pass."""
        self._last_compression_made_progress = bool(done.dropped)
        self._last_summary_fallback_used = bool(done.dropped) and self._last_summary_error is not None
        if done.dropped:
            self._previous_summary = done.summary

    # What engines override. Each is called with what its own signature takes.

    def _generate_summary(
        self, turns_to_summarize: list[dict[str, Any]], focus_topic: str | None = None, memory_context: str = ""
    ) -> str | None:
        """A summary of these turns by the summariser; None when there is none to be had."""
        told, budget = self._serialize_for_summary(turns_to_summarize), self.budget.summary
        before = self._previous_summary
        prompt = update_prompt(before, told, budget, focus_topic) if before else first_prompt(told, budget, focus_topic)
        if memory_context:
            prompt += f"\n\nFrom the person's memory, to be kept in mind:\n{memory_context}"
        said = self._ask(prompt)
        return self._with_summary_prefix(said) if said else None

    def _serialize_for_summary(self, turns: list[dict[str, Any]]) -> str:
        history = veil(exchanges(read_messages(turns)))
        return "\n\n".join(tell((each, read_actions(each) if each.results else ()) for each in history))

    def _with_summary_prefix(self, summary: str) -> str:
        return f"{SUMMARY_PREFIX}\n\n{self._strip_summary_prefix(summary)}"

    def _strip_summary_prefix(self, summary: str) -> str:
        return unwrap(summary) if summary.lstrip().startswith(OPENING) else summary.strip()

    def _record_compression_failure_cooldown(self, seconds: float, error: str | None = None, **_: Any) -> None:
        self._summary_failure_cooldown_until = time.monotonic() + seconds
        self._last_summary_error = error

    def _clear_compression_failure_cooldown(self, **_: Any) -> None:
        self._summary_failure_cooldown_until = 0.0
        self._last_summary_error = None

    # What engines call.

    def _prune_old_tool_results(
        self, messages: Messages, protect_tail_count: int = 20, **_: Any
    ) -> tuple[list[dict[str, Any]], int]:
        before = read_messages(messages)
        after = prune(before, before=max(0, len(before) - protect_tail_count))
        changed = sum(old is not new and old.raw != new.raw for old, new in zip(before, after, strict=True))
        return [said.to_dict() for said in after], changed

    def _align_boundary_forward(self, messages: Messages, place: int) -> int:
        """The first place from there on where the history may be cut."""
        return next((cut for cut in legal_cuts(read_messages(messages)) if cut >= place), len(messages))

    def _align_boundary_backward(self, messages: Messages, place: int) -> int:
        return max((cut for cut in legal_cuts(read_messages(messages)) if cut <= place), default=0)

    def _find_tail_cut_by_tokens(self, messages: Messages, head_end: int, *_: Any, **__: Any) -> int:
        where = boundaries.plan(read_messages(messages), self.budget, self.policy, self.scale)
        start = min(
            (*where.tail, *([where.newest_request] if where.newest_request is not None else [])), default=len(messages)
        )
        return max(start, head_end)

    def _sanitize_tool_pairs(self, messages: Messages) -> list[dict[str, Any]]:
        return [said.to_dict() for said in repair(read_messages(messages))]

    def _ask(self, prompt: str) -> str | None:
        """The summariser's answer. Without one clew's rules write the summary, whatever abort_on_summary_failure says:
        what they write is no placeholder."""
        try:
            said: str = self._host.call_llm([{"role": "user", "content": prompt}])
        except Exception as error:
            self._last_summary_error = f"{type(error).__name__}: {error}"
            return None
        return said.strip() or None

    def _summed_up(self, prompt: str) -> str:
        """What clew asks for a summary. The prompt is clew's; an engine with a method of its own is shown the turns."""
        if inspect.getattr_static(type(self), "_generate_summary") is ContextCompressor._generate_summary:
            said = self._ask(prompt)
        else:
            said = self._by_the_plugin()
        own = self._strip_summary_prefix(said) if said else ""
        # A method of its own may write as it likes; clew takes words under a heading.
        return own if not own or sections_of(own) else f"## Critical Context\n{own}"

    def _by_the_plugin(self) -> str | None:
        """Its summary of all that leaves, asked for once, also where clew would ask in parts."""
        if self._written:
            return self._written
        focus, memory = self._focus
        try:
            said: str | None = fitting(self._generate_summary)(self._leaving, focus_topic=focus, memory_context=memory)
        except Exception as error:
            self._last_summary_error = f"{type(error).__name__}: {error}"
            return None
        if not said and self._last_summary_error is None:
            self._last_summary_error = "it wrote no summary"
        self._written = said
        return said
