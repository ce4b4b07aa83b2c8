"""How many tokens is this text, roughly, without a tokenizer?

Every character is put in one of sixteen kinds, and every pair of neighbouring kinds has a fitted weight: a letter after
a space starts a word (most of a token), a letter after a letter continues one (little), a digit after a letter breaks
one (more than a token). The weights are never negative, so more text never weighs less.
"""

import zlib

UNIT = 64  # a weight of 64 is one token
BLOCK = 8192  # bytes weighed at once: small enough to stay in the processor's cache
CONTINUATION = bytes(range(0x80, 0xC0))  # dropped from UTF-8, so that one byte is left for each character


def estimate(text: str) -> int:
    """About as many tokens as o200k_base would make of `text`; see WEIGHTS for how far off that is."""
    data = b"\n" + text.encode("utf-8", "replace")  # a lone surrogate weighs as much as "?"
    units = 0
    for start in range(0, len(data) - 1, BLOCK):
        block = data[start : start + BLOCK + 1]  # one byte more: the next block's first character has a neighbour
        units += _weigh(block, ASCII_KIND, ASCII_WEIGHT)
        if not block.isascii():
            units += _weigh(block, SCRIPT_KIND, SCRIPT_WEIGHT)
    return -(-units // UNIT)


def _weigh(block: bytes, kind: bytes, weight: bytes) -> int:
    """The weight of every neighbouring pair of characters, in units."""
    return _sum(_pairs(block.translate(kind, CONTINUATION)).translate(weight))


def _pairs(kinds: bytes) -> bytes:
    """For each kind but the first one byte: its predecessor in the upper four bits, itself in the lower four."""
    # One shift of the whole row, seen as a single number, moves every kind beside its successor.
    row = int.from_bytes(kinds, "big")
    return (row | row >> 4).to_bytes(len(kinds), "big")[1:]


def _sum(data: bytes) -> int:
    """The sum of all bytes, ten times as fast as sum()."""
    # The low half of Adler-32 started at 0 is the plain sum modulo 65521, and 256 bytes never reach that.
    return sum(zlib.adler32(data[i : i + 256], 0) & 0xFFFF for i in range(0, len(data), 256))


def _kinds(*groups: bytes) -> bytes:
    """A translation table from a byte to the number of the group it is in (0 when it is in none)."""
    table = bytearray(256)
    for kind, group in enumerate(groups):
        for byte in group:
            table[byte] = kind
    return bytes(table)


def _span(first: int, last: int) -> bytes:
    return bytes(range(first, last + 1))


ASCII_KIND = _kinds(
    b"",  # 0: another script, weighed below
    b"aeiou" + _span(0xC3, 0xC9),  # 1: vowels, and Latin letters with accents
    b"cdhlmnrst",  # 2: common consonants
    b"bfgjkpqvwxyz",  # 3: rarer ones: where they meet, a word is more often cut
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",  # 4
    b"0123456789",  # 5
    b" ",  # 6
    b"\n\r",  # 7
    b"\t",  # 8
    b"_",  # 9
    b".,",  # 10
    b"-/\\",  # 11
    b"\"'`",  # 12
    b"()[]{}",  # 13
    b"=:;",  # 14
    b"!#$%&*+<>?@^|~\x7f\x0b\x0c" + _span(0, 8) + _span(14, 31),  # 15: the rest, control characters among them
)

# By the first byte of a character in UTF-8.
SCRIPT_KIND = _kinds(
    b"",  # 0: ASCII, weighed above
    b" \t\n\r",  # 1: a gap between words
    _span(0xC3, 0xC9),  # 2: accented Latin
    b"\xc2\xe2" + _span(0xCA, 0xCD),  # 3: typographic signs, arrows, box drawing, accents that stand alone
    _span(0xCE, 0xCF),  # 4: Greek
    b"\xd0",  # 5: Cyrillic, capitals and the first half of the small letters
    _span(0xD1, 0xD3),  # 6: Cyrillic, the second half
    _span(0xD4, 0xD7),  # 7: Armenian, Hebrew
    _span(0xD8, 0xDF),  # 8: Arabic, Syriac
    b"\xe0",  # 9: the scripts of India, Thai, Lao
    b"\xe1",  # 10: Vietnamese Latin, Georgian, Khmer
    b"\xe3",  # 11: kana and the punctuation of Chinese and Japanese
    _span(0xE4, 0xE9),  # 12: Chinese characters
    _span(0xEA, 0xED),  # 13: Hangul
    _span(0xEE, 0xEF),  # 14: full-width forms
    _span(0xF0, 0xFF),  # 15: emoji and rare scripts
)

# WEIGHTS: the row is the kind of the character before, the column the kind of this one; in 1/64 of an o200k_base token.
# Fitted in November 2026 by least squares (bounded below by 0, drawn towards 16 where a pair is rare) on one half of
# 22 MB in 73 classes: recorded agent conversations (prose, tool output, arguments, logs), source files in Python, Go,
# TypeScript, Rust, Java, SQL, CSS, HTML and minified JavaScript, JSON, books and manuals in Chinese, Japanese, Korean
# and Russian, translation catalogues in 22 languages, random hex, base64, identifiers, numbers and emoji.
# On the other half, in texts of 3 KB: summed over a class the error is below 2 % for English, every programming
# language, JSON, Chinese, Japanese, Russian, Korean, Arabic, hex and emoji, below 3 % for base64 and Thai, 4 to 11 %
# for Vietnamese, German, Polish, Turkish, Ukrainian and traditional Chinese; of one text, 3 % in the median.
# fmt: off
ASCII_WEIGHT = bytes((
    #scri vowe comm rare UPPE digi spac newl  tab    _    .    - quot brac    = othe
      0,   0,   0,   0,   0,  65,   0, 107,  35,  17,   0,  38,  88,   0,   0,   0,  # script
      0,   5,   0,   4,  82,  29,  48,  84,  20,  18,  21,  35,  36,   0,  51,   0,  # vowel
      0,   2,   7,  13,  11,  31,  28,  67,  29,  68,  10,  18,  34,   2,  31,  35,  # common
      0,   4,  30,  34,  71, 112,  54, 150,  19,  36,  29,  15,  48,  67,   0,   0,  # rare
      0,  28,  25,  87,  25,  28,   2,  58,  17,   0,  31, 116,  54,  38,  44,  63,  # UPPER
      0,   0,  99,  69,  79,  21,  17, 100,  30,  32,  95,  76,  66,  83,  29,  37,  # digit
      0,  37,   0,  29,   0,  96,   3,  16,  40,  26,  12,  42,  31,  21,  36,  59,  # space
      0,  38,  77,  94,  14,   7,  30,  20,   0,   5,  37,  41,  22,  21,  18,  26,  # newline
     16,   6,   1,  23,  15,  20,  15,  20,  22,  16,  16,  35,   0,  28,  16,  20,  # tab
     15,  42,   8,  44,  15,  42,  16,  12,  16,   0,  24,  17,   8,  20,  18,  10,  # _
      0,  21,  37,   2,   0,  14,  16,  31,  16,  43,   0,   1,  18,  42,  16,  33,  # .
      3,  67,  58,  51, 125,  35,  47,  79,  42,  21,  18,   2,   0,  29,  15,  22,  # -
     16,  28,  21,  46,   6,   0,  72,  54,  16,   4,  28,  75,  23,  43,  26,   2,  # quote
      0,   0,  67,  55,  41,  27,   7,  45,  16,  33,  60,  53,  21,  20,  22,  36,  # bracket
     15,  63, 116,  50,  83,  81,  71,   0,  24,  16,  19,   0,  13,  45,   1,  26,  # =
      0,   6,  46,   0,   8,  51,  17,   0,  24,  19,  21,  27,  43,  18, 168,   0,  # other
))

SCRIPT_WEIGHT = bytes((
    #asci spac lati symb gree cyr1 cyr2 hebr arab indi   e1 kana  han hang wide emoj
      0,   0,  20,   0,  19,   7, 107,  11,  20,   0,   0,   0,   0,   0,  27,  16,  # ascii
      0,   0,   0,  47,   3,   0,   0,  15,  23,   0,   0,   0,   0,  39,  27,  53,  # space
     57,  45,   0,  20,  16,  16,  16,  16,  16,  16,   0,  16,  16,  16,  16,  16,  # latin
     40, 104,  16,   4,  16,  26,  60,  14,  87,  10,  16,   0,   0,  13,  17,  34,  # symbol
     16,   7,  16,  16,  29,  16,  16,  16,  16,  16,  16,  16,  16,  16,  16,  16,  # greek
      0,   0,  16,  26,  16,   7,   0,  16,  16,  16,  16,  16,  16,  16,  16,  16,  # cyr1
      0,  52,  16,  14,  16,  42,  67,  16,  16,  16,  16,  16,  16,  16,  16,  16,  # cyr2
     33,   0,  16,  17,  16,  16,  16,  30,  16,  16,  16,  16,  16,  16,  16,  16,  # hebrew
     14,  28,  16,  88,  16,  16,  16,  16,  13,  16,  16,  16,  16,  16,  16,  16,  # arabic
      0,  38,  16,   9,  16,  16,  16,  16,  16,  23,  16,  16,  16,  16,  16,  16,  # indic
      0,   0,  16,  16,  16,  16,  16,  16,  16,  16,  29,  16,  16,  16,  16,  16,  # e1
      0,   0,  16,  19,  16,  16,  16,  16,  16,  16,  16,  36,  40,  16,  39,  16,  # kana
      0,  52,  16,   0,  16,  16,  16,  16,  16,  16,  16, 108,  42,  16,   0,  16,  # han
      0,  17,  16,  11,  16,  16,  16,  16,  16,  16,  16,  16,  16,  46,  16,  16,  # hangul
     63,   0,  16,   0,  16,  16,  16,  16,  16,  16,  16,  55, 150,  16,  19,  20,  # wide
     16,  53,  16,  34,  16,  16,  16,  16,  16,  16,  16,  16,  16,  16,  20, 137,  # emoji
))
# fmt: on
