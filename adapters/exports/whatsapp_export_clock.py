"""Words that phones put beside a date and a time of day, in all locales: halves of the day, years, prepositions.

As Unicode's CLDR has them, without white space, points, quotation marks and case. Source: section 4.1 of the chat
platform notes.
"""

from typing import Final

NOON: Final = 12
NOON_WORD: Final = "中午"
"""Chinese for the hours about noon: from 11 on."""

_FORENOON: Final = (
    "am", "오전", "새벽", "아침", "上午", "午前", "凌晨", "清晨", "早上", "午夜", "ص", "قظ", "قبلازظهر", "قبلدوپہر",
    "öö", "πμ", "sa", "pg", "dop", "dopoledne", "dopoludnia", "de", "fm", "vm", "vorm", "vormittags", "ap", "fh",
    "rn", "yb", "pd", "paradites", "eparadites", "prijepodne", "prepodne", "преподне", "претпл", "претпладне",
    "проб", "пробед", "преобяд", "дп", "тд", "тң", "үө", "կա", "priekšp", "priekšpusdienā", "לפנהצ", "पूर्वाह्न", "मपू",
    "পূর্বাহ্ণ", "পূর্বাহ্ন", "পূৰ্বাহ্ন", "ਪੂਦੁ", "முற்பகல்", "ಪೂರ್ವಾಹ್ನ", "ପୂର୍ବାହ୍ନ", "පෙව", "ព្រឹក", "ກ່ອນທ່ຽງ", "နံနက်", "ጥዋት",
    "ก่อนเที่ยง", "ad", "priešpiet",
)  # fmt: skip
_AFTERNOON: Final = (
    "pm", "오후", "저녁", "下午", "午後", "晚上", "傍晚", NOON_WORD, "م", "بظ", "بعدازظهر", "بعددوپہر", "ös", "μμ",
    "ch", "ptg", "odp", "odpoledne", "popol", "popoludní", "pop", "du", "em", "nm", "nachm", "nachmittags", "ip",
    "eh", "in", "yh", "md", "pasdites", "epasdites", "poslijepodne", "poslepodne", "popodne", "послеподне", "поподне",
    "попл", "попладне", "слоб", "слобед", "следобяд", "пп", "тк", "үх", "կհ", "pēcp", "pēcpusdienā",  # noqa: RUF001
    "אחהצ", "अपराह्न", "मउ", "অপরাহ্ণ", "অপরাহ্ন", "অপৰাহ্ন", "ਬਾਦੁ", "பிற்பகல்", "ಅಪರಾಹ್ನ", "ଅପରାହ୍ନ", "පව", "ល្ងាច", "ຫຼັງທ່ຽງ",
    "ညနေ", "ከሰዓት", "หลังเที่ยง", "popiet",
)  # fmt: skip

HALVES: Final = {**dict.fromkeys(_FORENOON, 0), **dict.fromkeys(_AFTERNOON, NOON)}
"""Hours to add to those of a clock of twelve."""

BEFORE: Final = frozenset(
    {
        "klo", "kello", "kl", "at", "um", "om", "à", "a", "às", "as", "alle", "ore", "u", "la", "las", "ala", "alas",
        "ob", "o", "v", "ve", "lúc", "pukul", "jam", "в", "о", "во", "у",  # noqa: RUF001 - Cyrillic
    }
)  # fmt: skip
"""What stands between date and time and means nothing: "at"."""

BEHIND: Final = frozenset({"uhr", "h", "hs", "hrs", "uur", "ч", "น"})
"""What stands behind a time and means nothing: "o'clock"."""

ERAS: Final = r"(?:[гжрm]|BE|CE|AD|พ\.ศ|ค\.ศ)(?![^\W\d_])\.?"  # noqa: RUF001 - Cyrillic
"""What stands behind a year, as a pattern: "of the year", and which calendar counts it."""

_UNSPOKEN: Final = str.maketrans("", "", ". \u00a0\u2009\u202f\u200c\u200e\u200f\u061c\"'\u2019\u05f4\u05f3")


def spoken(words: str | None) -> str:
    """Give the form in which words are listed here."""
    return words.translate(_UNSPOKEN).casefold() if words else ""
