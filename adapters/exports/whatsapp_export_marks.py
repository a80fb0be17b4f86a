"""What WhatsApp writes in the place of words: media, deleted and edited messages, in any language.

By shape where there is one (a file name and one parenthesis), by lists of translations where there is none; an unknown
language stays readable text. Source: section 4.1 of the chat platform notes; cases 35, 39.
"""

import re
from typing import Final, NamedTuple

from adapters.exports.media import attachment
from adapters.exports.whatsapp_export_lines import visible
from schemas.event import Attachment

_MARK: Final = "\u200e"
"""The mark of direction that newer apps write before what is no person's words."""

_LONGEST_MARK: Final = 90

_IMAGE, _VIDEO, _AUDIO, _FILE, _MEDIA = "image", "video", "audio", "file", "media"

_EXTENSIONS: Final[dict[str, tuple[str, str]]] = {
    "jpg": (_IMAGE, "image/jpeg"), "jpeg": (_IMAGE, "image/jpeg"), "png": (_IMAGE, "image/png"),
    "webp": (_IMAGE, "image/webp"), "gif": (_IMAGE, "image/gif"), "heic": (_IMAGE, "image/heic"),
    "mp4": (_VIDEO, "video/mp4"), "3gp": (_VIDEO, "video/3gpp"), "mov": (_VIDEO, "video/quicktime"),
    "opus": (_AUDIO, "audio/ogg"), "ogg": (_AUDIO, "audio/ogg"), "m4a": (_AUDIO, "audio/mp4"),
    "mp3": (_AUDIO, "audio/mpeg"), "aac": (_AUDIO, "audio/aac"), "amr": (_AUDIO, "audio/amr"),
    "wav": (_AUDIO, "audio/wav"), "pdf": (_FILE, "application/pdf"), "vcf": (_FILE, "text/vcard"),
}  # fmt: skip

# `NAME.ext (file attached)`: any words in the parenthesis behind a name that WhatsApp gave, known words behind others.
_OWN_NAME: Final = r"(?:IMG|VID|AUD|PTT|STK|DOC|GIF|PTV)-\d{8}-WA\d{4,}\.\w{0,5}"
_NAME_IN_WORDS: Final = re.compile(rf"\s{_OWN_NAME}$")
_ATTACHED_WORDS: Final = (
    r"file attached|arquivo anexado|ficheiro anexado|Datei angehängt|archivo adjunto|fichier joint|file allegato"
    r"|bestand bijgevoegd|файл добавлен|файл прикреплён|файл прикреплен|файл додано|plik dołączony|dosya ekli"
    r"|file terlampir|fil bifogad|fil vedhæftet|vedlagt fil|tiedosto liitetty|soubor přiložen|fișier atașat"
    r"|fájl csatolva|הקובץ מצורף|קובץ מצורף|ملف مرفق|الملف مرفق"
    r"|फ़ाइल संलग्न|添付ファイル|ファイル添付済み|파일 첨부됨|文件附件|附件"
)
_ATTACHED: Final = re.compile(
    rf"(?P<own>{_OWN_NAME}) \([^()\n]{{2,40}}\)|(?P<name>[^\n/\\]{{1,200}}\.\w{{1,8}}) \((?:{_ATTACHED_WORDS})\)",
    re.IGNORECASE,
)
# `<attached: NAME>`, whatever the language's word is; Chinese has a colon of its own.
_TAGGED: Final = re.compile(r"<(?P<word>[^<>:\uff1a\n]{2,40})[:\uff1a] ?(?P<name>[^<>\n/\\]{1,200})>")
_EXTENSION: Final = re.compile(r"\.\w{1,8}$")

_NOUNS: Final[dict[str, str]] = {
    _IMAGE: (
        r"image|imagen|imagem|immagine|imagine|imatge|bild|bilder|bilde|foto|photo|afbeelding|kép|изображение|зображення|obrázek|obraz|kuva|görsel|resim|görüntü"
        r"|gambar|billede|sticker|стикер|наклейку|nálepka|figurinha|naklejka|autocollant|adesivo|GIF\S*|הצילום|ה?תמונה"
        r"|stiker|çıkartma|mærkat|tarra|चित्र|छवि|स्टिकर|图像|貼圖|贴图|ステッカー|스티커"  # noqa: RUF001 - Turkish
        r"|الصورة|صورة|ملصق|الملصقات|图片|圖片|画像|이미지"
    ),
    _VIDEO: r"video\S*|vídeo|vidéo|видео|відео|film|וידאו|ה?סרטון|الفيديو\S*|视频|影片|動画|동영상",
    _AUDIO: (
        r"(?:view once )?voice message|audio\S*"
        r"|áudio|аудио\S*|аудіо\S*|plik audio|ses|suara|lyd|ljud|ääni"
        r"|קול|الصوت\S*|المقاطع الصوتية|语音|音频|音声|오디오"
    ),
    _FILE: (
        r"document\S*|documento|dokument\S*|документ|asiakirja|ficheiro|belge|dokumen|contact card|kontaktkarte"
        r"|fiche contact"
        r"|tarjeta de contacto|scheda contatto|cartão d[eo] contato|contactkaart"
        r"|contacto|карточка контакта|картка контакту|vizitka|المستند"
    ),
    _MEDIA: (
        r"(?:arxiu )?(?:multi)?m[eéèií]e?di\w*|multivide|medya|медиа\S*|медіа\S*|медиј\w*|archivo|arquivo"
        r"|arquivos? de mídia|fichier|fișier\w*(?: media)?|conținut media|nội dung media|mitjans|رسانه|মিডিয়া|மீடியா"
        r"|מדיה|המדיה|الوسائط|मीडिया|媒体\S*|媒體\S*|多媒体\S*|メディア\S*|미디어\S*|πολυμέσ\w+|สื่อ|медия\S*"
    ),
}
_LEFT_OUT: Final = (
    r"hiányzó|kihagyva|vynech[aá]n\w*|nebyl\w* zahrnut\w*|au fost omise|izpuščen\w*|izlaist\w*|ära jäetud"
    r"|uitgelaat|inalis ang|disingkirkan|atlan\w*|липсва|изостављен\w*|বাদ দেওয়া\S*|தவிர்க்கப்பட்டது|अनुपस्थित|om[eèé]s\w*"
    r"|omit\w* el archivo|omit\w*|omis\w*|παραλ(?:εί|ή)φθηκ\w+|ไม่รวม|bỏ qua|izostavljen\w*|jätetty pois"
    r"|пропусн\w*|dihilangkan|omess\w*|ocult\w*|exclu\w*|ausgeschlossen|weggelassen|ausgelassen|weggelaten|utelämna\w*|udeladt"
    r"|utelat\w*|jätettiin pois|pominięt\w*"
    r"|elhagyva|dahil edilmedi|tidak disertakan|absent\w*|manquant\w*"
    r"|retiré\w*|esclus\w*|non inclus\w*|não revelad\w*|отсутств\w*|відсутн\w*|пропущен\w*|не добавлен\w*|не додано"
    r"|удален\w*|без|לא נכלל\w*|הושמט\w*|استبعاد|محذوف\w*|لم يتم إدراج|حذف"
    r"|के बिना|छोड़\w*|省略|略去|忽略|含まれていません|なし|제외|생략\w*"
)
# Where a noun ends, in scripts that put something between words; `\b` knows neither Japanese nor vowel signs.
_WORD_END: Final = r"(?![a-zà-ɏα-ωά-ώа-яё])"
_LEFT_OUT_MEDIA: Final = {
    kind: re.compile(
        rf"(?:har |er |a fost |se |τα |تم )?"
        rf"(?:(?:{nouns}){_WORD_END}.{{0,24}}(?:{_LEFT_OUT})|(?:{_LEFT_OUT})\s*(?:{nouns})).{{0,12}}",
        re.IGNORECASE,
    )
    for kind, nouns in _NOUNS.items()
}

_EDITED_WORDS: Final = (
    r"this message was edited|message edited|mensagem editada|esta mensagem foi editada|esta mensagem foi modificada"
    r"|(?:diese )?nachricht (?:wurde )?bearbeitet|se editó este mensaje|mensaje editado|este mensaje fue editado"
    r"|ce message a été modifié|message modifié|questo messaggio è stato modificato|messaggio modificato"
    r"|dit bericht is bewerkt|bericht bewerkt|bu mesaj düzenlendi|это сообщение изменено|сообщение изменено"
    r"|данное сообщение изменено|це повідомлення було змінено|ця? повідомлення змінено|ta wiadomość została edytowana"
    r"|edytowano tę wiadomość|pesan ini diedit|det här meddelandet redigerades|denne besked blev redigeret"
    r"|denne meldingen ble redigert|tätä viestiä muokattiin|tato zpráva byla upravena|acest mesaj a fost editat"
    r"|ezt az üzenetet szerkesztették|הודעה זו נערכה|ההודעה נערכה|تم تعديل هذه الرسالة|यह मैसेज एडिट किया गया"
    r"|此消息已编辑|此訊息已編輯|このメッセージは編集されました|이 메시지는 수정되었습니다"
)
_EDITED: Final = re.compile(rf"\s*<(?:{_EDITED_WORDS})\.?>\s*$", re.IGNORECASE)
# In any language: a sentence in such brackets behind a mark of direction, at the end of words. A single word of ASCII,
# or what has an attribute or a slash, is code that a person wrote, and stays.
_EDITED_SHAPE: Final = re.compile(rf"(?<=\S)\s*{_MARK}<(?=[^<>\n]*(?: |[^\x00-\x7f]))[^<>:\uff1a\n=/\"]{{4,60}}>\s*$")

_DELETED_WORDS: Final = (
    "this message was deleted", "you deleted this message as admin", "you deleted this message", "message deleted",
    "você apagou esta mensagem", "apagou esta mensagem", "esta mensagem foi apagada", "essa mensagem foi apagada",
    "mensagem apagada", "esta mensagem foi eliminada", "eliminou esta mensagem", "du hast diese nachricht gelöscht",
    "diese nachricht wurde gelöscht", "nachricht gelöscht", "eliminaste este mensaje", "se eliminó este mensaje",
    "este mensaje fue eliminado", "mensaje eliminado", "vous avez supprimé ce message", "ce message a été supprimé",
    "message supprimé", "hai eliminato questo messaggio", "questo messaggio è stato eliminato", "messaggio eliminato",
    "dit bericht is verwijderd", "je hebt dit bericht verwijderd", "u heeft dit bericht verwijderd",
    "вы удалили данное сообщение", "данное сообщение удалено", "вы удалили это сообщение", "это сообщение удалено",
    "сообщение удалено", "ви видалили це повідомлення", "це повідомлення було видалено", "це повідомлення видалено",
    "bu mesaj silindi", "bu mesaj\u0131 sildiniz",
    "pesan ini telah dihapus", "anda menghapus pesan ini", "det här meddelandet raderades",
    "du raderade det här meddelandet", "denne besked blev slettet", "du slettede denne besked",
    "denne meldingen ble slettet", "du slettet denne meldingen", "tämä viesti poistettiin", "poistit tämän viestin",
    "tato zpráva byla smazána", "tuto zprávu jste smazal", "tuto zprávu jste smazala", "tuto zprávu jste smazal/a",
    "acest mesaj a fost șters", "ați șters acest mesaj", "ezt az üzenetet törölték", "törölted ezt az üzenetet",
    "הודעה זו נמחקה", "מחקת הודעה זו", "تم حذف هذه الرسالة", "لقد حذفت هذه الرسالة", "यह मैसेज हटाया गया है",
    "यह मैसेज हटाया गया", "आपने यह मैसेज हटाया", "此消息已删除", "您删除了此消息", "你删除了这条消息", "此訊息已刪除",
    "您已刪除此訊息", "このメッセージは削除されました", "このメッセージを削除しました", "삭제된 메시지입니다",
    "이 메시지는 삭제되었습니다", "이 메시지가 삭제되었습니다", "이 메시지를 삭제했습니다",
    "u hebt dit bericht verwijderd",
    "anda telah menghapus pesan ini", "mesej ini telah dipadamkan", "ta wiadomość została usunięta",
    "usunięto tę wiadomość", "meddelandet har raderats", "detta meddelande raderades", "此消息已被删除",
    "你已删除此消息", "您已删除此消息", "此訊息已被刪除", "你已刪除此訊息", "ההודעה נמחקה", "ההודעה הזו נמחקה",
    "se ha eliminado este mensaje",
    "has eliminado este mensaje", "aquest missatge s'ha suprimit", "s'ha suprimit aquest missatge",
    "mesajul a fost șters", "αυτό το μήνυμα διαγράφηκε", "διαγράψατε αυτό το μήνυμα", "tin nhắn này đã bị xóa",
    "bạn đã xóa tin nhắn này", "ova poruka je izbrisana", "izbrisali ste ovu poruku",
    "ова порука је избрисана",  # noqa: RUF001 - Serbian
    "това съобщение беше изтрито", "изтрихте това съобщение", "táto správa bola odstránená",
    "odstránili ste túto správu", "این پیام حذف شد", "این پیام حذف شده است", "ข้อความนี้ถูกลบแล้ว", "คุณลบข้อความนี้แล้ว",
    "यह संदेश हटा दिया गया", "ये मैसेज हटा दिया गया",
)  # fmt: skip
_DELETED: Final = frozenset(words.casefold() for words in _DELETED_WORDS)
_DELETED_BY: Final = ("this message was deleted by admin",)

# What begins with a mark of direction and is somebody's words all the same: polls, places, things sent once.
_SHARED: Final = re.compile(r"(?:[^\s:.]{2,20}|[^\W\d_a-z][^\n:.]{2,24}):(?:\s*$|\s*\n|\s+https?://)", re.MULTILINE)


class Said(NamedTuple):
    """What the body of a message is: words, what came with them, and what WhatsApp says of it."""

    text: str
    attachments: list[Attachment]
    deleted: bool = False
    edited: bool = False
    service: bool = False


def read_body(body: str) -> Said:
    """Tell words from the app's own marks."""
    marked = body.lstrip(" ").startswith(_MARK)
    text = visible(body).strip()
    kept = _without_edit(body, text) if text.endswith(">") else text
    edited = len(kept) != len(text)
    first, _, caption = kept.partition("\n")
    if len(kept) <= _LONGEST_MARK and _is_deleted(kept):
        return Said(kept, [], deleted=True)
    if first.endswith(")") and (attached := _ATTACHED.fullmatch(first)) and not _quoted(attached["name"]):
        return Said(caption.strip(), [_file(attached["own"] or attached["name"])], edited=edited)
    if ">" in body and (tagged := _tagged(body)):
        left = visible(body[: tagged.start()] + body[tagged.end() :]).strip()
        return Said(_EDITED.sub("", left), [_file(tagged["name"])], edited=edited)
    if kind := _left_out(first, marked=marked):
        return Said(caption.strip(), [Attachment(kind=kind)], edited=edited)
    service = marked and not edited and not _SHARED.match(kept)
    return Said(kept, [], edited=edited, service=service)


def _without_edit(body: str, text: str) -> str:
    """Cut the mark of an edited message; `text` is what is visible of the body."""
    kept = _EDITED.sub("", text)
    shape = _EDITED_SHAPE.search(body) if len(kept) == len(text) else None
    return visible(body[: shape.start()]).strip() or text if shape else kept


def _quoted(name: str | None) -> bool:
    """Whether what looks like a file's name is words that end with such a name."""
    return name is not None and _NAME_IN_WORDS.search(name) is not None


def _is_deleted(text: str) -> bool:
    plain = text.removeprefix("🚫").strip().rstrip(".。").casefold()
    return plain in _DELETED or plain.startswith(_DELETED_BY)


def _tagged(body: str) -> re.Match[str] | None:
    """Find `<attached: NAME>`: alone in its line, or behind a mark of direction."""
    for found in _TAGGED.finditer(body):
        before, after = body[: found.start()], body[found.end() :]
        alone = not visible(before.rpartition("\n")[2]).strip() and not visible(after.partition("\n")[0]).strip()
        if before.endswith(_MARK) or (alone and _EXTENSION.search(found["name"])):
            return found
    return None


def _left_out(line: str, *, marked: bool) -> str | None:
    """Give the kind of media that a marker stands for: in `<…>` (Android), or behind a mark of direction (iOS)."""
    if len(line) > _LONGEST_MARK:
        return None
    in_tag = line.startswith("<") and line.endswith(">")
    inner = line[1:-1] if in_tag else line
    if not (in_tag or marked or _OLD_IOS.fullmatch(line)):
        return None
    return next((kind for kind, pattern in _LEFT_OUT_MEDIA.items() if pattern.fullmatch(inner)), None)


# Before 2018 the app wrote these without a mark.
_OLD_IOS: Final = re.compile(r"(?:image|video|audio|sticker|GIF|document|Contact card) omitted")


def _file(name: str) -> Attachment:
    plain = visible(name).strip()
    kind, mime_type = _EXTENSIONS.get(plain.rpartition(".")[2].lower(), (_FILE, None))
    return attachment(kind, plain, mime_type)
