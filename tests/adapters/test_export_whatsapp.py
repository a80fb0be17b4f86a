"""WhatsApp text exports are read in every locale's form, and a longer export of a chat gives the same ids again."""

import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.exports import whatsapp_export_events
from adapters.exports.whatsapp_export import WhatsAppExportReader
from adapters.exports.whatsapp_export_events import label_of
from adapters.exports.whatsapp_export_lines import read_header
from tests.support.ai_exports import (
    assert_conserved,
    heard,
    ids,
    imported,
    read,
    recognises,
    rejected,
    skipped,
    told,
    warned,
)
from tests.support.archives import packed
from tests.support.messengers import case

READER = WhatsAppExportReader()
SETTINGS = {"timezone": "America/Sao_Paulo", "own_name": "Op"}
LRM = "\u200e"


def chat(*lines: str, end: str = "\n", name: str = "input.txt", **options) -> list:
    return read(READER, (end.join(lines) + end).encode(), name, **options)


def of_case(number: int, name: str = "input.txt", **options) -> list:
    return read(READER, case(number, name), "x.txt", **{**SETTINGS, **options})


def times(elements: list) -> list[str]:
    return [event.event.timestamp_iso for event in imported(elements).events]


def test_narrow_spaces_before_the_half_of_the_day() -> None:
    """Case 33; the month comes first, which only the last line proves."""
    elements = of_case(33)
    assert told(elements) == [
        ("status", "service", "Messages and calls are end-to-end encrypted."),
        ("message", "user", "late"),
        ("message", "self", "past midnight"),
        ("message", "user", "noon <Media omitted>"),
    ]
    assert times(elements)[1:] == ["2023-01-05T02:59:00.000Z", "2023-01-05T03:05:00.000Z", "2023-01-13T15:30:00.000Z"]
    assert warned(elements) == []


def test_marks_of_direction_leave() -> None:
    """Case 35."""
    elements = of_case(35)
    assert told(elements) == [
        ("message", "user", "link"),
        ("message", "user", "[image: image/jpeg]"),
        ("status", "self", "Esta mensagem foi apagada."),
    ]
    assert heard(elements)[1].attachments[0].name == "00000003-PHOTO-2025-03-05-10-15-00.jpg"
    assert heard(elements)[2].labels == ["deleted"]
    assert times(elements) == ["2025-03-05T13:14:33.000Z", "2025-03-05T13:15:00.000Z", "2025-03-25T13:16:00.000Z"]
    assert LRM not in repr(heard(elements))


def test_year_first() -> None:
    """Case 37."""
    elements = of_case(37)
    assert times(elements) == ["2023-12-20T20:46:00.000Z", "2023-12-20T20:47:00.000Z"]
    assert told(elements) == [("message", "user", "traço"), ("message", "self", "barra")]


@pytest.mark.parametrize(
    "date",
    [
        "2023-12-20, 17:46", "2023/12/20, 17:46", "2023/12/20, 5:46 pm", "2023-12-20 17:46", "2023.12.20, 17:46",
        "2023. 12. 20. 17:46", "2023年12月20日 17:46", "2023. 12. 20. 오후 5:46",
    ],
)  # fmt: skip
def test_each_style_that_begins_with_the_year(date: str) -> None:
    """Case 37: alone in its file; nothing else is needed to know the order."""
    elements = read(READER, f"{date} - Ana: a\n{date} - Op: b: c\n".encode(), "x.txt", **SETTINGS)
    assert times(elements) == ["2023-12-20T20:46:00.000Z"] * 2
    assert told(elements) == [("message", "user", "a"), ("message", "self", "b: c")]
    assert warned(elements) == []


def test_media_markers_in_any_language() -> None:
    """Case 39."""
    elements = of_case(39)
    assert [event.text for event in heard(elements)] == [
        "[media]", "[media]", "[audio: audio/ogg]", "olha isso", "<não é mídia>"
    ]  # fmt: skip
    names = [[item.name for item in event.attachments] for event in heard(elements)]
    assert names == [[None], [None], ["PTT-20210803-WA0002.opus"], ["IMG-20210803-WA0001.jpg"], []]
    assert warned(elements) == []


def test_the_border_between_author_and_text() -> None:
    """Case 41."""
    elements = of_case(41)
    assert [(event.author_id, event.text) for event in heard(elements)] == [
        ("Ana - Suporte", "veja https://ex.test/x: às 10:30"),
        ("+55 11 90000-0000", "número"),
        (None, "Ana - Suporte mudou a descrição do grupo"),
    ]
    assert heard(elements)[2].type == "status"


def test_equal_lines_differ_and_a_longer_export_adds_only_what_is_new() -> None:
    """Case 43."""
    first, second = of_case(43, "input-1.txt", chat="Ops"), of_case(43, "input-2.txt", chat="Ops")
    assert len(set(ids(first))) == 3
    assert ids(second)[:3] == ids(first)
    assert len(set(ids(second))) == 4
    assert not set(ids(first)) & set(ids(of_case(43, "input-1.txt", chat="Other")))


def test_without_a_label_the_first_message_tells_chats_apart() -> None:
    """The same content under another name adds nothing; a longer export belongs to the same chat."""
    first, second = of_case(43, "input-1.txt"), of_case(43, "input-2.txt")
    assert ids(second)[:3] == ids(first)
    assert first[0].thread.thread_id == second[0].thread.thread_id


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("WhatsApp Chat with Ana Lima.txt", "Ana Lima"),
        ("Conversa do WhatsApp com Ana.txt", "Ana"),
        ("WhatsApp-Chat mit Ana.txt", "Ana"),
        ("Discussion WhatsApp avec Ana.txt", "Ana"),
        ("Chat de WhatsApp con Ana (2).txt", "Ana"),
        ("WhatsApp Chat - Ana.zip/_chat.txt", "Ana"),
        ("WhatsApp Chat - Ana/_chat.txt", "Ana"),
        ("WhatsApp Chat with Ana.zip/WhatsApp Chat with Ana.txt", "Ana"),
        ("_chat.txt", None),
        ("notes.txt", None),
    ],
)
def test_the_chat_is_named_by_the_file_where_the_app_named_it(path: str, label: str | None) -> None:
    assert label_of(Path(path)) == label


def test_settings_change_no_id() -> None:
    """A corrected zone or name must not double a chat."""
    assert ids(of_case(33)) == ids(of_case(33, timezone="Europe/Berlin", own_name=None))


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("[05/03/2025, 10:14:33] Ana: x", "2025-03-05T10:14:33"),
        ("[5/3/25 10:14:33] Ana: x", "2025-03-05T10:14:33"),
        ("[05.03.25, 10:14:33] Ana: x", "2025-03-05T10:14:33"),
        ("[5.3.2025 klo 10.14.33] Ana: x", "2025-03-05T10:14:33"),
        ("[2025-03-05, 10:14:33] Ana: x", "2025-03-05T10:14:33"),
        ("[2025/3/5 下午1:14:33] Ana: x", "2025-03-05T13:14:33"),
        ("[2025. 3. 5. 오후 1:14:33] Ana: x", "2025-03-05T13:14:33"),
        ("[5/3/2568 10:14:33] Ana: x", "2025-03-05T10:14:33"),
        (
            "\u200f[\u0660\u0665\u200f/\u0660\u0663\u200f/\u0662\u0660\u0662\u0665، 1:14:\u0663\u0663 م] Ana: x",
            "2025-03-05T13:14:33",
        ),
        ("05/03/2025, 10:14 - Ana: x", "2025-03-05T10:14:00"),
        ("05/03/2025 10:14 - Ana: x", "2025-03-05T10:14:00"),
        ("5-3-2025 10:14 - Ana: x", "2025-03-05T10:14:00"),
        ("5/3/25, 12:14 AM - Ana: x", "2025-03-05T00:14:00"),
        ("5/3/25, 12:14 p. m. - Ana: x", "2025-03-05T12:14:00"),
        ("5/3/25, 1:14\u202fp.\u00a0m. - Ana: x", "2025-03-05T13:14:00"),
        ("05.03.25, 10:14 \u2013 Ana: x", "2025-03-05T10:14:00"),
        ("5/3/25 à 10:14 - Ana: x", "2025-03-05T10:14:00"),
        ("05.03.2025 г., 10:14 ч. - Ana: x", "2025-03-05T10:14:00"),  # noqa: RUF001 - Bulgarian
        ("[5.03.25 г., 10:14:33] Ana: x", "2025-03-05T10:14:33"),  # noqa: RUF001 - Bulgarian
        ("05.03.2025 ж. 10:14 - Ana: x", "2025-03-05T10:14:00"),
        ("[5/3/2568 BE, 10:14:33] Ana: x", "2025-03-05T10:14:33"),
        ("2025년 3월 5일 오후 1:14 - Ana: x", "2025-03-05T13:14:00"),
        ("5.3.25, во 10:14 - Ana: x", "2025-03-05T10:14:00"),
        ("5/3/25 a las 10:14 - Ana: x", "2025-03-05T10:14:00"),
        ("5.3.25, 1:14 e pasdites - Ana: x", "2025-03-05T13:14:00"),
        ("5/3/25, பிற்பகல் 1:14 - Ana: x", "2025-03-05T13:14:00"),
        ("2025/03/05, 13:14 nm. - Ana: x", "2025-03-05T13:14:00"),
        ("5/3/2025،\u200f 10:14 - Ana: x", "2025-03-05T10:14:00"),
        ("5/3/2025, \u200e10:14\u200e\u202fAM\u200e - Ana: x", "2025-03-05T10:14:00"),
    ],
)  # fmt: skip
def test_every_form_of_a_first_line(line: str, moment: str) -> None:
    """A second line proves that the day comes first."""
    elements = chat(line, "[25/03/2025, 23:00:00] Ana: y", **SETTINGS)
    assert told(elements)[0] == ("message", "user", "x")
    assert heard(elements)[0].times == [f"{moment}-03:00"]


@pytest.mark.parametrize(
    "line",
    [
        "just words", "10:14 - Ana: x", "05/03/2025 - Ana: x", "[05/03/2025] Ana: x", "see 05/03/2025, 10:14 - x",
        "05/03/2025, 25:14 - Ana: x", "05/03/2025, 10:74 - Ana: x", "05/03/2025, 10:14 maybe - Ana: x",
        "192.168.10.14, 10:14 - x", "05/03/2025, 10:14-x", "",
    ],
)  # fmt: skip
def test_other_lines_go_on_with_the_message(line: str) -> None:
    assert read_header(line) is None


def test_a_message_has_many_lines() -> None:
    """Blank ones and such that look half like a date among them."""
    elements = chat("13/03/2025, 10:14 - Ana: one", "", "10:15 two", "05/03: three", "14/03/2025, 10:15 - Op: y")
    assert [event.text for event in heard(elements)] == ["one\n\n10:15 two\n05/03: three", "y"]


def test_a_pasted_chat_inside_a_message_is_its_text() -> None:
    """Messages end with CRLF on iOS, the lines inside them with LF."""
    raw = "".join(
        [
            "[13/03/2025, 10:14:00] Ana: a\r\n",
            "[13/03/2025, 10:15:00] Ana: look:\n[01/01/2020, 09:00:00] Bea: pasted\nend\r\n",
            *(f"[13/03/2025, 10:16:{n:02d}] Ana: {n}\r\n" for n in range(20)),
        ]
    )
    elements = read(READER, raw.encode())
    assert len(heard(elements)) == 22
    assert heard(elements)[1].text == "look:\n[01/01/2020, 09:00:00] Bea: pasted\nend"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_any_line_end(end: str) -> None:
    elements = chat("13/03/2025, 10:14 - Ana: a", "b", "13/03/2025, 10:15 - Ana: c", end=end)
    assert [event.text for event in heard(elements)] == ["a\nb", "c"]


@pytest.mark.parametrize(
    ("dates", "first", "known"),
    [
        (["1/2/23", "13/2/23"], "2023-02-01", True),
        (["1/2/23", "2/13/23"], "2023-01-02", True),
        (["1/6/23", "5/6/23", "2/7/23"], "2023-06-01", True),  # month first would run backwards
        (["03.04.23", "05.04.23"], "2023-04-03", False),
        (["04/04/23"], "2023-04-04", True),
        (["23/2/1", "23/2/28"], "2023-02-01", True),
    ],
)
def test_the_order_of_dates_is_decided_by_the_whole_file(dates: list[str], first: str, known: bool) -> None:
    elements = chat(*(f"{date}, 10:00 - Ana: x" for date in dates), timezone="UTC")
    assert times(elements)[0][:10] == first
    assert (warned(elements) == []) == known


@pytest.mark.parametrize(
    ("body", "text", "kind", "name"),
    [
        ("<Media omitted>", "[media]", "media", None),
        ("<Multimedia omitido>", "[media]", "media", None),
        ("<Médias omis>", "[media]", "media", None),
        ("<Media weggelaten>", "[media]", "media", None),
        ("<Без медиафайлов>", "[media]", "media", None),
        ("<Arquivo de mídia oculto>", "[media]", "media", None),
        ("<Παραλείφθηκαν πολυμέσα>", "[media]", "media", None),
        ("<ไม่รวมสื่อ>", "[media]", "media", None),
        ("<Bỏ qua Media>", "[media]", "media", None),
        ("<मीडिया छोड़ा गया>", "[media]", "media", None),
        ("<メディアは含まれていません>", "[media]", "media", None),
        ("<Se omitió el archivo multimedia>", "[media]", "media", None),
        ("<View once voice message omitted>", "[audio]", "audio", None),
        (LRM + "视频已略去", "[video]", "video", None),
        (LRM + "<附件\uff1a0003-PHOTO.jpg>", "[image: image/jpeg]", "image", "0003-PHOTO.jpg"),
        ("DOC-20210803-WA0009. (file attached)", "[file: DOC-20210803-WA0009.]", "file", "DOC-20210803-WA0009."),
        (LRM + "image omitted", "[image]", "image", None),
        (LRM + "Bild weggelassen", "[image]", "image", None),
        (LRM + "vidéo absente", "[video]", "video", None),
        (LRM + "audio omitido", "[audio]", "audio", None),
        (LRM + "document manquant", "[file]", "file", None),
        ("sticker omitted", "[image]", "image", None),
        ("VID-20210803-WA0001.mp4 (ein Wort)", "[video: video/mp4]", "video", "VID-20210803-WA0001.mp4"),
        ("the plan v2.pdf (file attached)", "[file: the plan v2.pdf]", "file", "the plan v2.pdf"),
        (LRM + "<attached: 0001-AUDIO-2025.opus>", "[audio: audio/ogg]", "audio", "0001-AUDIO-2025.opus"),
        (LRM + "<attached: 0002-Makefile>", "[file: 0002-Makefile]", "file", "0002-Makefile"),
        ("<Hiányzó médiafájl>", "[media]", "media", None),
        ("<Médiá vynechané>", "[media]", "media", None),
        ("<Τα πολυμέσα παραλήφθηκαν>", "[media]", "media", None),  # noqa: RUF001 - Greek
        ("<رسانه حذف شد>", "[media]", "media", None),
        (LRM + "mærkat udeladt", "[image]", "image", None),
        (LRM + "ääni jätetty pois", "[audio]", "audio", None),
        (LRM + "Contactkaart weggelaten", "[file]", "file", None),
        (LRM + "plan.pdf • 3 pages " + LRM + "<attached: 2-plan.pdf>", "plan.pdf • 3 pages", "file", "2-plan.pdf"),
    ],
)  # fmt: skip
def test_media(body: str, text: str, kind: str, name: str | None) -> None:
    (event,) = heard(chat(f"[13/03/2025, 10:14:00] Ana: {body}"))
    assert (event.type, event.text) == ("message", text)
    assert [(item.kind, item.name) for item in event.attachments] == [(kind, name)]


@pytest.mark.parametrize(
    "body",
    [
        "notes.txt (draft)", "<b>image omitted</b>", "I omitted the image", "<not a marker>", "image omitted a lot",
        "<note: to do>", "see IMG-20210803-WA0001.jpg (file attached)",
    ],
)  # fmt: skip
def test_words_are_no_media(body: str) -> None:
    (event,) = heard(chat(f"13/03/2025, 10:14 - Ana: {body}"))
    assert (event.text, event.attachments) == (body, [])


@pytest.mark.parametrize(
    "marker",
    [
        "<This message was edited>", f"{LRM}<This message was edited>", "<Diese Nachricht wurde bearbeitet.>",
        "<Mensagem editada>", "<Se editó este mensaje.>", f"{LRM}<Ova poruka je izmijenjena>",
        f" {LRM}<此消息已被编辑>",
    ],
)  # fmt: skip
def test_edited_messages_lose_the_marker(marker: str) -> None:
    (event,) = heard(chat(f"13/03/2025, 10:14 - Ana: better {marker}"))
    assert (event.type, event.text, event.labels) == ("message", "better", ["edit", "time-zone-assumed"])


@pytest.mark.parametrize("words", ["<html>", "<b>", "<a href=x y>", "<br />", "<T extends U/V>"])
def test_what_a_person_wrote_in_such_brackets_stays(words: str) -> None:
    """Also behind a mark of direction, as phones that write from right to left put it."""
    (element,) = chat(f"[31/12/2024, 21:41:32] Ana: see {LRM}{words}")
    assert element.event.text.replace(LRM, "") == f"see {words}"
    assert "edit" not in element.event.labels


@pytest.mark.parametrize(
    "marker",
    [
        "This message was deleted", "Bu mesaj silindi.", "You deleted this message.", "Diese Nachricht wurde gelöscht.",
        "Ce message a été supprimé", "Ta wiadomość została usunięta.", "此消息已被删除", f"{LRM}ההודעה נמחקה",
    ],
)  # fmt: skip
def test_deleted_messages_are_status(marker: str) -> None:
    (event,) = heard(chat(f"13/03/2025, 10:14 - Op: {marker}", timezone="UTC", own_name="op"))
    assert (event.type, event.role, event.labels) == ("status", "self", ["deleted"])


def test_system_lines_with_an_author_are_status() -> None:
    """Newer iOS exports put a group's or a person's name before them."""
    (event,) = heard(chat(f"[13/03/2025, 10:14:00] Ops: {LRM}Ana added Bea", timezone="UTC"))
    assert (event.type, event.role, event.labels) == ("status", "service", ["service"])


@pytest.mark.parametrize(
    "body", [f"{LRM}POLL:\nWhere?\n{LRM}OPTION: here (1 vote)", f"{LRM}Location: https://maps.test/x"]
)
def test_polls_and_places_are_words(body: str) -> None:
    (event,) = heard(chat(f"[13/03/2025, 10:14:00] Ana: {body}"))
    assert (event.type, event.text) == ("message", body.replace(LRM, ""))


def test_a_colon_inside_a_quote_makes_no_author() -> None:
    line = '13/03/2025, 10:14 - Ana changed the subject from "a: b" to "c"'
    (event,) = heard(chat(line))
    assert (event.author_id, event.type) == (None, "status")


def test_a_nickname_in_quotes_is_an_author() -> None:
    lines = [f'13/03/2025, 10:1{n} - Ana "Nina" Lima: x' for n in range(2)]
    assert {event.author_id for event in heard(chat(*lines))} == {'Ana "Nina" Lima'}


def test_the_tilde_of_unsaved_contacts_leaves() -> None:
    (event,) = heard(chat("[13/03/2025, 10:14:00] ~\u202fAna: x", own_name="~ Ana"))
    assert (event.author_id, event.role) == ("Ana", "self")


def test_a_message_without_words_is_empty() -> None:
    elements = chat("13/03/2025, 10:14 - Ana: ", "13/03/2025, 10:15 - Ana:", "13/03/2025, 10:15 - Ana: x")
    assert [(s.outcome, s.what) for s in skipped(elements)] == [("empty", "message without words")] * 2
    assert len(heard(elements)) == 1


def test_text_before_the_first_message_is_named() -> None:
    elements = chat("lost words", "13/03/2025, 10:14 - Ana: x", "13/03/2025, 10:15 - Ana: y")
    assert [(r.reason, r.sample) for r in rejected(elements)] == [("no-message-header", b"lost words\n")]
    assert len(heard(elements)) == 2


def test_a_date_that_is_none_leaves_the_time_to_the_neighbours() -> None:
    """Months of calendars that are not known here."""
    elements = chat("13/03/2025, 10:14 - Ana: x", "13/03/1402, 10:15 - Ana: y", timezone="UTC")
    assert times(elements)[1] == times(elements)[0]
    assert imported(elements).events[1].event.labels == ["time-inferred"]


def test_a_date_that_only_the_other_order_knows_is_that_date() -> None:
    """Two exports pasted into one file: the line's own number above 12 proves its order."""
    elements = chat(
        "25/12/2023, 10:14 - Ana: x", "26/12/2023, 10:14 - Ana: y", "12/27/2023, 10:14 - Ana: z", timezone="UTC"
    )
    assert times(elements) == [f"2023-12-{day}T10:14:00.000Z" for day in (25, 26, 27)]


def test_the_second_pass_of_a_repeated_hour_comes_later() -> None:
    elements = chat(
        *(f"29/10/2023, {clock} - Ana: x" for clock in ("02:30", "02:59", "02:01", "02:30", "03:10")),
        timezone="Europe/Berlin",
    )
    assert [time[11:16] for time in times(elements)] == ["00:30", "00:59", "01:01", "01:30", "02:10"]
    assert len(set(ids(elements))) == 5


def test_a_line_without_end_is_cut() -> None:
    elements = chat("13/03/2025, 10:14 - Ana: " + "x" * 3_000_000, "13/03/2025, 10:15 - Ana: y", timezone="UTC")
    assert [len(event.text) for event in heard(elements)] == [1_000_000 - len("Ana: "), 1]
    assert heard(elements)[0].labels == ["truncated"]


def test_what_is_remembered_of_equal_lines_is_bounded(monkeypatch) -> None:
    """Also when all lines are of one minute."""
    monkeypatch.setattr(whatsapp_export_events, "MAX_EQUALS", 10)
    equals = whatsapp_export_events._Equals()
    numbers = [equals.number("10:14", line) for line in [*range(40), 39, 39]] + [equals.number("10:15", 39)]
    assert numbers == [1] * 40 + [2, 3, 1]
    assert equals._size <= 10


@pytest.mark.parametrize("number", [33, 35, 37, 39, 41])
def test_real_shapes_are_taken_whatever_their_name(number: int) -> None:
    assert recognises(READER, case(number, "input.txt"), "anything")


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"hello\nworld\n", b'[{"mapping": {}}]', b"[1, 2, 3]", b"\x00\xff\xfe",
        b"[2023-12-20 17:46:00] INFO: started\n[2023-12-20 17:46:01] WARN: x\n",
        b"2023-12-20 17:46:00,123 - root - INFO - x\n", b"2023-12-20 17:46 - backup: done\n",
        b"[2019-05-29 15:04:00] Me: words  \n", b"words\n13/03/2025, 10:14 - Ana: one\nwords\n",
        packed({"_chat.txt": b"13/03/2025, 10:14 - Ana: one\n" * 4}, zipfile.ZIP_STORED),
    ],
)  # fmt: skip
def test_other_files_are_not_taken(raw: bytes) -> None:
    """Logs of programs, the Markdown of signal-export, a text that quotes one line, an archive that holds a chat."""
    assert not recognises(READER, raw)


LINES = [
    "[13/03/2025, 10:14:00] Ana: one",
    "[13/03/2025, 10:14:30] Op: two",
    f"{LRM}[13/03/2025, 10:15:00] Ana: {LRM}<attached: 1.jpg>",
    "[14/03/2025, 10:16:00] Ana changed the group",
    "[14/03/2025, 10:16:30] Ana: end",
]
WHOLE = ids(chat(*LINES, chat="c"))


@settings(max_examples=200)
@given(st.integers(0, 4), st.text(st.characters(exclude_categories=("Cs",)), max_size=40))
def test_any_line_costs_at_most_itself_and_the_one_before(place: int, words: str) -> None:
    """A line that begins no message goes on with the one before; nothing else changes."""
    lines = [*LINES[:place], words, *LINES[place + 1 :]]
    elements = chat(*lines, chat="c")
    others = {WHOLE[n] for n in range(5) if n not in {place, place - 1}}
    if read_header(words.partition("\n")[0]) is None and "\n[" not in words:
        assert others <= set(ids(elements))
    assert_conserved(elements)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(raw: bytes) -> None:
    recognises(READER, raw)
    elements = read(READER, LINES[0].encode() + b"\n" + raw)
    assert ids(elements) == ids(read(READER, LINES[0].encode() + b"\n" + raw))
    assert_conserved(elements)


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=12), st.integers(1, 12))
def test_a_shorter_export_has_the_ids_of_the_longer_one(lines: list[str], cut: int) -> None:
    """Whatever lines repeat, and wherever the shorter one ends."""
    ordered = sorted(lines, key=lambda line: line.lstrip(LRM)[:22])
    whole, part = ids(chat(*ordered, chat="c")), ids(chat(*ordered[:cut], chat="c"))
    assert whole[: len(part)] == part
    assert len(set(whole)) == len(whole)
