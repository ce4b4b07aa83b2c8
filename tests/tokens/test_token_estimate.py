"""The estimate against exact counts, and exact counts against what is known of the vocabulary."""

import sys
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.tokens import available, count_exact, estimate, exact
from tests.tokens.token_samples import SAMPLES

needs_splintr = pytest.mark.skipif(not available(), reason="splintr is not installed: nothing exact to compare with")

THAI = "เมื่อวานนี้เราไปเที่ยวทะเลกับเพื่อน อากาศดีมาก ท้องฟ้าแจ่มใสและลมพัดเย็นสบาย เรากินอาหารทะเลสดที่ร้านริมหาดแล้วเดินเล่นจนถึงเย็น"
ARABIC = (
    "وصلنا إلى المدينة القديمة في الصباح الباكر، وكانت الأسواق قد بدأت تفتح أبوابها. جلسنا في مقهى صغير وشربنا الشاي"
)
EMOJI = "Great work 🎉🎉 the build is green ✅ and the docs are up 🚀 thanks everyone 🙏❤️ see you on Monday 😀"
MINIFIED = (
    "!function(e,t){for(var n=0,r=e.length;n<r;n++){var o=e[n];if(o&&o.id===t)return o.value||null}return void 0}"
    '(window.items||[],"a1");const i=s=>s.map((c,d)=>({k:c.k+d,v:c.v??0})).filter(({v:f})=>f>1e3);export{i as pick};'
)


@needs_splintr
@pytest.mark.parametrize("kind", SAMPLES)
def test_the_estimate_of_a_kind_of_text_is_within_five_percent(kind: str) -> None:
    truth = sum(map(count_exact, SAMPLES[kind]))
    assert sum(map(estimate, SAMPLES[kind])) == pytest.approx(truth, rel=0.05)


@needs_splintr
@pytest.mark.parametrize("text", [THAI, ARABIC, EMOJI, MINIFIED], ids=["thai", "arabic", "emoji", "minified"])
def test_the_estimate_of_a_short_text_of_another_kind_is_sane(text: str) -> None:
    assert estimate(text) == pytest.approx(count_exact(text), rel=0.25)


@pytest.mark.parametrize("unit", ["7", "=", "ab", "\n", " ", "的", "я", "😀", "\0"])
def test_a_monotonous_text_weighs_at_most_one_token_for_each_byte(unit: str) -> None:
    text = unit * 3000
    assert 0 < estimate(text) <= len(text.encode())


def test_nothing_weighs_nothing() -> None:
    assert estimate("") == 0


def test_anything_weighs_something() -> None:
    for point in [
        *range(32, 0x250),
        0x0416,
        0x05D0,
        0x0E01,
        0x3042,
        0x4E2D,
        0xAC00,
        0xD800,
        0x1F600,
        0x20000,
        0x10FFFF,
    ]:
        assert estimate(chr(point) * 40) > 0, hex(point)


@given(st.text(), st.text())
def test_more_text_never_weighs_less(text: str, more: str) -> None:
    assert estimate(text) <= estimate(text + more)


@given(st.text(alphabet="ab 1.\nйя中的あ😀\ud800", min_size=1))
def test_the_size_of_a_block_changes_nothing(text: str) -> None:
    module = import_module("clew.tokens.estimate")  # the package's attribute of this name is the function
    whole = estimate(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 7)
        assert estimate(text) == whole


@needs_splintr
def test_exact_counts_are_those_of_o200k() -> None:
    assert count_exact("hello world") == 2
    assert count_exact("你好，世界") == 3
    assert count_exact("") == 0


@needs_splintr
def test_a_special_token_spelled_out_is_ordinary_text() -> None:
    assert count_exact("<|endoftext|>") == 7
    assert count_exact("a <|endoftext|> b") > 7


@needs_splintr
def test_a_lone_surrogate_is_counted_as_one_unreadable_character() -> None:
    assert count_exact("a\ud800b") == count_exact("a\ufffdb")
    pairs = "🦖🧿🪤".encode("utf-16-le", "surrogatepass")
    halves = "".join(chr(int.from_bytes(pairs[i : i + 2], "little")) for i in range(0, len(pairs), 2))
    assert count_exact(halves) == count_exact("🦖🧿🪤")  # a pair is the character it stands for


def test_without_splintr_exact_counts_are_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)  # how Python is told that an import fails
    monkeypatch.setattr(exact, "_tokenizer", None)
    monkeypatch.setattr(exact, "_absent", False)
    assert not available()
    with pytest.raises(ModuleNotFoundError, match="splintr-rs"):
        count_exact("hello")
