"""What is found, how it is counted and shown, and that nothing found is never confused with not looked."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.recall.index import Index
from clew.recall.rank import POOL
from clew.recall.search import AT_ONCE, search
from clew.recall.sift import CHECKED
from clew.store.trouble import StoreBusy
from tests.recall.log import Log, Opened


def seqs(index: Index, text: str, **filters: object) -> list[int]:
    return sorted(hit.seq for hit in search(index, text, limit=1_000, **filters).hits)  # type: ignore[arg-type]


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def index(tmp_path: Path, log: Log):  # type: ignore[no-untyped-def]
    with Opened(tmp_path, log) as opened:
        yield opened


def test_words_in_texts_arguments_tool_names_and_blobs_are_found(index: Index, log: Log) -> None:
    text = log.say("We keep the parser.")
    call = log.call("read_file", {"path": "src/clew/core/turn.py", "options": {"deep": ["nested value", 42]}})
    raw = log.call("run", "{not json: grep parser")
    result = log.say("done", role="tool", tool="list_folder")
    blob = log.say("see outside", blob="first line\nthe needle lies here\n")
    parts = log.say(message={"role": "user", "content": [{"type": "text", "text": "a picture"}, {"type": "image_url"}]})
    assert seqs(index, "parser") == [text, raw]
    assert seqs(index, "src/clew/core/turn.py") == [call]
    assert seqs(index, '"nested value"') == seqs(index, "42") == seqs(index, "options") == [call]
    assert seqs(index, "read_file") == [call]
    assert seqs(index, "list_folder") == [result]
    assert seqs(index, "needle") == seqs(index, '"needle lies"') == [blob]
    assert seqs(index, "picture") == [parts]


def test_a_path_is_told_from_its_words_in_another_order(index: Index, log: Log) -> None:
    right = log.say("look at src/clew/core/turn.py please")
    log.say("core of src: py, turn and clew")
    assert seqs(index, "src/clew/core/turn.py") == [right]
    assert seqs(index, "clew/core") == seqs(index, '"core turn"') == [right]
    assert seqs(index, "src/clew/core/tu*") == [right]


@pytest.mark.parametrize("first", [1, 5_000, 40_000, 70_000])
def test_a_rare_phrase_of_common_words_is_counted_exactly(tmp_path: Path, first: int) -> None:
    log = Log(first)
    right = log.say("fix src/core now")
    for _ in range(2 * CHECKED):
        log.say("core of the src")
    with Opened(tmp_path, log, name=f"{first}.db") as index:
        index.catch_up()
        found = search(index, "src/core")
        assert ([hit.seq for hit in found.hits], found.total, found.exact) == ([right], 1, True)


def test_identifiers_are_found_as_a_whole_and_by_their_parts(index: Index, log: Log) -> None:
    snake = log.say("call get_compression_tip() now")
    camel = log.say("call getCompressionTip() now")
    assert seqs(index, "get_compression_tip") == [snake]
    assert seqs(index, "getCompressionTip") == [camel]
    assert seqs(index, "compression") == [snake, camel]
    assert seqs(index, "compress*") == [snake, camel]
    (hit,) = search(index, "getcompressiontip").hits
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["getCompressionTip"]


SCRIPTS = {
    "chinese": ("我们需要压缩上下文窗口", ["窗", "压缩", "上下文", "上下文窗口"]),
    "traditional": ("資料庫的索引檔案", ["庫", "索引", "資料庫"]),
    "hiragana": ("ひらがなでかきます", ["ら", "ひら", "ひらがな"]),
    "katakana": ("コンテキストを圧縮する", ["テ", "コン", "コンテキスト"]),
    "half width": ("ｺﾝﾃｷｽﾄ", ["コンテ", "ｺﾝ", "キスト"]),
    "korean": ("컨텍스트를 압축합니다", ["컨", "압축", "컨텍스트"]),
    "mixed": ("用Python写的代码", ["python", "写", "代码", "Python写"]),
    "full width": ("ＡＢＣ１２３", ["abc123", "ABC123"]),
    "latin": ("Café déjà vu", ["cafe", "DEJA", "café", '"deja vu"']),
    "russian": ("Сжатие контекста", ["сжатие", "КОНТЕКСТА", "конт*"]),
    "greek": ("Σίσυφος", ["ΣΊΣΥΦΟΣ"]),
    "rare": ("𠮷野家", ["𠮷", "𠮷野"]),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_is_found_from_one_character_up(index: Index, log: Log, script: str) -> None:
    text, asked = SCRIPTS[script]
    log.say("nothing of it: 空 な 무 zzz")
    seq = log.say(f"before {text} after")
    for question in asked:
        found = search(index, question)
        assert [hit.seq for hit in found.hits] == [seq], question
        assert found.hits[0].marks, question


def test_two_characters_that_do_not_touch_are_not_found_as_one_word(index: Index, log: Log) -> None:
    log.say("集中。文件")
    assert seqs(index, "中文") == []
    assert seqs(index, "文件") == [1]


def test_any_word_will_do_and_more_and_rarer_ones_come_first(index: Index, log: Log) -> None:
    for _ in range(30):
        log.say("the parser is slow today")
    rare = log.say("a tokenizer")
    both = log.say("the parser has a tokenizer")
    found = search(index, "what about the parser and the tokenizer?")
    assert [hit.seq for hit in found.hits[:2]] == [both, rare]
    assert found.total == 32


def test_the_best_is_found_among_thousands_however_old_it_is(index: Index, log: Log) -> None:
    best = log.say("parser tokenizer")
    rare = log.say("tokenizer alone")
    for _ in range(3 * POOL):
        log.say("parser here")
        log.say("window there")
    index.catch_up()
    found = search(index, "parser tokenizer window")
    assert [hit.seq for hit in found.hits[:2]] == [best, rare]
    assert found.total == 6 * POOL + 2


def test_a_message_with_all_words_is_found_though_each_is_common(index: Index, log: Log) -> None:
    best = log.say("parser tokenizer window")
    for word in ("parser", "tokenizer", "window"):
        for _ in range(2 * POOL):
            log.say(word)
    index.catch_up()
    assert search(index, "parser tokenizer window").hits[0].seq == best


def test_a_word_is_marked_only_where_it_stands_alone(index: Index, log: Log) -> None:
    log.say("parsers, reparser, parser2 and the parser")
    (hit,) = search(index, "parser").hits
    assert hit.marks == ((35, 41),)


def test_of_equal_messages_the_newest_comes_first(index: Index, log: Log) -> None:
    for _ in range(5):
        log.say("same words")
    assert [hit.seq for hit in search(index, "same").hits] == [5, 4, 3, 2, 1]


def test_a_message_beside_a_good_one_comes_before_its_equal(index: Index, log: Log) -> None:
    beside = log.say("the parser, yes")
    log.say("is the tokenizer of the parser slow?")
    for _ in range(5):
        log.say("nothing")
    alone = log.say("the parser, yes")
    assert [hit.seq for hit in search(index, "slow parser tokenizer").hits] == [2, beside, alone]


def test_for_a_page_the_neighbours_do_not_count(index: Index, log: Log) -> None:
    beside = log.say("word0, yes")
    full = log.say(" ".join(f"word{n}" for n in range(50)))
    for _ in range(5):
        log.say("nothing")
    alone = log.say("word0, yes")
    assert [hit.seq for hit in search(index, "\n".join(f"word{n}" for n in range(50))).hits] == [full, alone, beside]


def test_what_stands_there_to_the_letter_comes_first(index: Index, log: Log) -> None:
    path = log.say("in ./cmd/entire of old")
    name = log.say("the SessionId of old")
    for _ in range(30):
        log.say("cmd/entire cmd/entire cmd/entire and sessionid sessionid sessionid")
    assert search(index, "./cmd/entire").hits[0].seq == path
    assert search(index, "SessionId").hits[0].seq == search(index, "the (SessionId)?").hits[0].seq == name


def test_who_speaks_is_found(index: Index, log: Log) -> None:
    log.say(message={"role": "user", "name": "Caroline", "content": "I went there."})
    log.say(message={"role": "user", "name": 7, "content": "I did not."})
    log.say(message={"role": "tool", "name": "grep", "content": "found"}, tool="grep", role="tool")
    assert seqs(index, "caroline") == [1]
    assert seqs(index, "grep") == [3]
    assert index.verify() == []


def test_a_word_is_as_rare_as_it_is_where_is_searched(index: Index, log: Log) -> None:
    log.say("lamp zinc " * 3, conversation="here")
    for _ in range(8):
        log.say("lamp", conversation="here")
    copper = log.say("copper", conversation="here")
    for _ in range(60):
        log.say("copper zinc", conversation="elsewhere")
    found = search(index, "lamp copper", conversation="here")
    assert found.hits[0].seq == copper


def test_the_words_of_a_page_are_weighed_by_how_rare_they_are(index: Index, log: Log) -> None:
    rare = log.say("obsidian")
    for n in range(3 * POOL):
        log.say(f"lamp table chair filler{n}")
    index.catch_up()
    assert search(index, "lamp\ntable\nobsidian").hits[0].seq == rare
    assert search(index, "lamp\n-table").total == 3 * POOL


def test_in_chinese_what_the_best_messages_say_besides_counts(index: Index, log: Log) -> None:
    echo = log.say("晚会，好看的魔术", conversation="d")
    for text in (
        "元旦晚会表演魔术",
        "元旦晚会表演魔术吗",
        "元旦晚会表演魔术吧",
        "元旦晚会表演魔术啊",
        "元旦晚会表演魔术呢",
    ):
        log.say(text, conversation="a")
        log.say("别的事情", conversation="b")
    plain = log.say("晚会，好看的衣服", conversation="c")
    order = [hit.seq for hit in search(index, "元旦的晚会上要表演").hits]
    assert order.index(echo) < order.index(plain)


def test_what_is_left_out_is_left_out(index: Index, log: Log) -> None:
    log.say("parser tests")
    kept = log.say("parser and old code")
    log.say("the old parser")
    assert seqs(index, 'parser -tests -"old parser"') == [kept]
    assert search(index, "parser -tests").filters == ("without tests",)


def test_filters_choose_exactly(index: Index, log: Log) -> None:
    log.say("word", role="user", conversation="a", at=10.0)
    log.say("word", role="tool", tool="grep", conversation="a", at=20.0)
    log.call("grep", {"word": 1}, conversation="b", at=30.0)
    log.say("word", role="user", conversation="b", at=5.0)
    log.say("word", role="user", conversation="a", at=40.0, derived=True)
    assert seqs(index, "word", conversation="a") == [1, 2]
    assert seqs(index, "word", role="user") == [1, 4]
    assert seqs(index, "word", tool="grep") == [2, 3]
    assert seqs(index, "word", after=10.0, before=30.0) == [1, 2]
    assert seqs(index, "word", after=10.5) == [2, 3]
    assert seqs(index, "word", before=10.0) == [4]
    assert seqs(index, "word", derived=True) == [1, 2, 3, 4, 5]
    assert seqs(index, "word", conversation="b", role="user", before=6.0) == [4]
    found = search(index, "word", conversation="a", role="user")
    assert (found.total, found.searched, found.filters) == (1, 1, ("conversation a", "role user"))
    assert search(index, "word", conversation="a", role="user", derived=True).searched == 2
    assert search(index, "word", conversation="nowhere").searched == 0


def test_times_are_exact_even_when_numbers_are_not_in_their_order(index: Index, log: Log) -> None:
    for n in range(5_000):
        log.say("tick", at=float(n * 7_919 % 5_000))
    index.catch_up()
    for after, before in ((0.0, 1.0), (17.0, 4_000.0), (4_999.0, None), (None, 2_500.0)):
        wanted = sum((after or 0) <= stored.at < (before or 9e9) for stored in log.messages)
        found = search(index, "tick", after=after, before=before)
        assert (found.total, found.searched) == (wanted, wanted)


def test_derived_text_is_left_out_unless_asked_for(index: Index, log: Log) -> None:
    log.say("a summary of it", derived=True)
    assert search(index, "summary").total == 0
    assert search(index, "summary").searched == 0
    found = search(index, "summary", derived=True)
    assert (found.total, found.searched, found.hits[0].derived) == (1, 1, True)
    assert seqs(index, "summ*", derived=True) == seqs(index, '"summary of"', derived=True) == [1]
    assert seqs(index, "summ*") == seqs(index, '"summary of"') == []


def test_each_message_is_one_hit_and_all_are_counted(index: Index, log: Log) -> None:
    for n in range(3 * POOL):
        log.say("again and again " * 3 + str(n))
    index.catch_up()
    found = search(index, "again and*", limit=POOL + 50)
    assert len({hit.seq for hit in found.hits}) == len(found.hits) == POOL + 50
    assert (found.total, found.exact, found.complete, found.searched) == (3 * POOL, True, True, 3 * POOL)


def test_nothing_found_says_where_was_looked(index: Index, log: Log) -> None:
    log.say("something")
    found = search(index, "nothing")
    assert (found.hits, found.total, found.exact, found.complete, found.searched) == ((), 0, True, True, 1)
    assert found.notes == ()


@pytest.mark.parametrize("text", ["", "  ", "?!…", "-word", '""'])
def test_a_question_with_nothing_to_look_for_says_so(index: Index, log: Log, text: str) -> None:
    log.say("word")
    found = search(index, text)
    assert not found.complete
    assert "nothing to look for" in found.notes[0]


def test_what_is_not_indexed_yet_is_told(index: Index, log: Log) -> None:
    for _ in range(AT_ONCE + 5):
        log.say("word")
    found = search(index, "word")
    assert (found.total, found.searched, found.complete) == (AT_ONCE, AT_ONCE, False)
    assert found.notes[0].startswith("5 new messages are not indexed")
    assert search(index, "word").complete


def test_an_index_that_cannot_be_written_still_answers_and_says_so(index: Index, log: Log) -> None:
    log.say("word")
    index.catch_up()
    log.say("word")

    def busy() -> None:
        raise StoreBusy("locked by another process")

    index.database.write = busy  # type: ignore[method-assign,assignment]
    found = search(index, "word")
    assert (found.total, found.complete) == (1, False)
    assert found.notes == (
        "locked by another process",
        "1 new messages are not indexed yet and were not searched: let the index catch up",
    )


def test_a_phrase_too_common_to_check_is_estimated_and_says_so(index: Index, log: Log) -> None:
    for n in range(3 * CHECKED):
        log.say("one two" if n % 3 else "one two three")
    index.catch_up()
    found = search(index, '"one two"')
    assert (found.total, found.exact) == (3 * CHECKED, False)
    assert "estimated" in found.notes[0]
    assert search(index, '"two three"').exact
    left = search(index, 'one -"one two"')
    assert (left.hits, left.total, left.exact) == ((), 0, False)


def test_words_that_touch_only_two_by_two_are_no_phrase(index: Index, log: Log) -> None:
    log.say("one two, two three")
    right = log.say("one two three")
    assert seqs(index, '"one two three"') == [right]
    log.say("a b c d e", derived=True)
    assert seqs(index, "a/b/c/d/e") == seqs(index, "a/b/c/d/e*") == []
    assert seqs(index, "a/b/c/d/e", derived=True) == [3]


def test_what_is_left_out_is_estimated_where_it_is_too_common_to_check(index: Index, log: Log) -> None:
    for n in range(4 * CHECKED):
        log.say("one two three" if n % 4 else "one two, two three")
    index.catch_up()
    found = search(index, 'one -"one two three"', limit=5_000)
    assert (found.total, found.exact) == (CHECKED, False)
    assert all(hit.snippet == "one two, two three" for hit in found.hits)


def test_a_beginning_of_very_many_words_is_looked_up_in_part_and_says_so(index: Index, log: Log) -> None:
    for n in range(50):
        log.say(" ".join(f"x{n * 100 + word}" for word in range(100)))
    index.catch_up()
    found = search(index, "x*")
    assert not found.exact
    assert "very many words begin with x" in found.notes[0]


def test_a_snippet_shows_the_place_as_it_was_written(index: Index, log: Log) -> None:
    log.say("long ago " * 60 + "the ＣＡＦÉ Ǆ is Ŝaved\n" + "much later " * 60)
    (hit,) = search(index, '"cafe"').hits
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["ＣＡＦÉ"]
    (hit,) = search(index, "saved").hits
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["Ŝaved"]
    assert len(hit.snippet) <= 200


def test_marks_are_right_where_some_signs_grow_and_others_shrink(index: Index, log: Log) -> None:
    log.say("ß ﷺ e\u0301e\u0301e\u0301 ﬁ ｶﾞ the needle é")
    log.say("ß the thread e\u0301")  # one grows, one shrinks: as long as before, but shifted in between
    for word in ("needle", "thread"):
        (hit,) = search(index, word).hits
        assert [hit.snippet[start:end] for start, end in hit.marks] == [word]


def test_the_snippet_is_where_most_of_it_stands(index: Index, log: Log) -> None:
    log.say("parser " + "x " * 300 + "slow tokenizer and parser " + "y " * 300)
    (hit,) = search(index, "parser tokenizer").hits
    assert {hit.snippet[start:end] for start, end in hit.marks} == {"parser", "tokenizer"}


def test_a_hit_tells_the_line_to_page_to(index: Index, log: Log) -> None:
    log.say("a\nb\nthe needle\nc")
    log.say("small", blob="x\n" * 100_000 + "the thread\n" + "y\n" * 1_000)
    log.say("z\n" * 50_000 + "the clew\n")
    (hit,) = search(index, "needle").hits
    assert (hit.line, hit.blob) == (3, "")
    (hit,) = search(index, "thread").hits
    assert (hit.line, hit.blob) == (100_001, "blob-2")
    assert hit.snippet[slice(*hit.marks[0])] == "thread"
    (hit,) = search(index, '"the clew"').hits
    assert (hit.line, hit.blob) == (50_001, "")


def test_a_credential_shows_in_no_snippet_wherever_the_text_is_cut(tmp_path: Path, log: Log) -> None:
    key = "BEGIN" + "k" * 15_000 + "END"
    log.say("x " * 15_500 + key + " the needle " + "y " * 40_000)
    with Opened(tmp_path, log, veil=lambda text: text.replace(key, "[REDACTED]"), name="veiled.db") as index:
        (hit,) = search(index, "needle").hits
        assert "needle" in hit.snippet
        assert "kkk" not in hit.snippet


def test_a_hit_says_where_it_stands(index: Index, log: Log) -> None:
    log.say("first")
    log.say("word", role="tool", tool="grep", conversation="talk", at=12.5)
    (hit,) = search(index, "word").hits
    assert (hit.seq, hit.conversation, hit.place, hit.at, hit.role, hit.tool, hit.derived, hit.standing) == (
        2, "talk", 1, 12.5, "tool", "grep", False, True,
    )  # fmt: skip


def test_what_was_forgotten_meanwhile_is_no_hit(index: Index, log: Log) -> None:
    log.say("word")
    log.say("word")
    index.catch_up()
    log.forget(2)
    assert seqs(index, "word") == [1]


def test_odd_messages_are_indexed_all_the_same(index: Index, log: Log) -> None:
    log.say(message={"content": "no role"})
    log.say(message={"role": "user", "content": None, "tool_calls": "nonsense"})
    log.say(message={"role": "user", "content": {"weird": "object"}})
    log.say("lone \ud800 surrogate", tool="to\0ol", role="ro\ud800le", conversation="c" * 5_000)
    assert seqs(index, "role") == [1]
    assert seqs(index, "weird") == [3]
    assert seqs(index, "surrogate", conversation="c" * 5_000) == [4]
    assert index.verify() == []
