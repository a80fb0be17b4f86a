"""Archives of every kind, good and hostile, and a reader of a made-up export to find in them."""

import io
import json
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from adapters.contract import Element, FileHead, Reader, ReadOptions, Rejected
from tests.support.sources import heard

CHATS = b'{"chats": ["a", "b"]}'
"""What `ChatReader` knows: each word is an event."""


class ChatReader:
    """Knows `{"chats": [word…]}`; the word `bad` is rejected, `crash` is a bug."""

    name = "chats"
    provider = "chat"

    def recognises(self, head: FileHead) -> bool:
        return head.start.startswith(b'{"chats"')

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        for word in json.loads(stream.read())["chats"]:
            if word == "crash":
                raise KeyError("a bug")
            yield Rejected(f"{path}: {word}", "bad-word") if word == "bad" else heard(word)


class PageReader(ChatReader):
    """Knows the same words in a page, for want of better."""

    name = "chat page"
    fallback = True

    def recognises(self, head: FileHead) -> bool:
        return head.start.startswith(b"<chats>")

    def read(self, stream: BinaryIO, path: Path, options: ReadOptions) -> Iterator[Element]:
        for word in stream.read().decode().split()[1:]:
            yield heard(word)


READERS = (ChatReader(), PageReader())


def ask(head: FileHead) -> Reader | None:
    """What a catalogue of these readers would say."""
    return next((reader for reader in READERS if reader.recognises(head)), None)


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of members by name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


def with_link(name: str, target: str) -> bytes:
    """An archive with the chats and a symbolic link."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("chats.json", CHATS)
        link = zipfile.ZipInfo(name)
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, target)
    return out.getvalue()


def with_flag(archive: bytes, flag: int = 0, method: int | None = None) -> bytes:
    """Set a flag, or a method, in every header of an archive."""
    raw = bytearray(archive)
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = raw.find(sign)
        while place >= 0:
            raw[place + flags] |= flag
            if method is not None:
                raw[place + flags + 2 : place + flags + 4] = method.to_bytes(2, "little")
            place = raw.find(sign, place + 4)
    return bytes(raw)


def many_members(count: int) -> bytes:
    """An archive whose directory has so many entries, all of one empty member's shape."""
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, 5, 0) + b"a.txt"
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0) + b"a.txt"
    directory = entry * count
    start = len(local)
    wide = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, len(directory), start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, start + len(directory), 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return local + directory + wide + locator + end


def overlapping(count: int) -> bytes:
    """An archive whose entries all name the same bytes, as Fifield's bomb does."""
    archive = packed({f"chats-{number:03}.json": b" " * 1_000_000 for number in range(count)})
    raw = bytearray(archive)
    place = raw.find(b"PK\x01\x02")
    while place >= 0:
        raw[place + 42 : place + 46] = bytes(4)
        place = raw.find(b"PK\x01\x02", place + 4)
    return bytes(raw)


def bomb(size: int) -> bytes:
    """An archive of one member that begins like chats and unpacks to so many bytes of white space."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed_body = body.compress(b'{"chats": [') + b"".join(body.compress(b" " * (1 << 20)) for _ in range(size >> 20))
    packed_body += body.flush()
    length = 11 + (size >> 20 << 20)
    crc = zlib.crc32(b'{"chats": [')
    for _ in range(size >> 20):
        crc = zlib.crc32(b" " * (1 << 20), crc)
    return _one_member(b"chats.json", packed_body, length, crc, 8)


def _one_member(name: bytes, body: bytes, length: int, crc: int, method: int) -> bytes:
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, method, 0, 0, crc, len(body), length, len(name), 0) + name
    entry = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, method, 0, 0, crc, len(body), length, len(name), 0, 0, 0, 0, 0, 0
    )
    directory = entry + name
    start = len(local) + len(body)
    return local + body + directory + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), start, 0)


def nested(depth: int, content: bytes, width: int = 1) -> bytes:
    """Archives in archives around a content."""
    for _ in range(depth):
        content = packed({f"{number}.zip" if depth else "x": content for number in range(width)})
    return content


def sparse(path: Path, attachment_bytes: int, chats: bytes) -> None:
    """Write an archive with two stored attachments, mostly holes, and chats between them; needs ZIP64."""
    entries = []
    with path.open("wb") as out:
        for name, size, body in (
            (b"a-film.mp4", attachment_bytes // 2, b"\0\0\0\x20ftypisom"),
            (b"chats.json", len(chats), chats),
            (b"z-film.mp4", attachment_bytes // 2, b"\0\0\0\x20ftypisom"),
        ):
            start = out.tell()
            sizes = struct.pack("<2H2Q", 1, 16, size, size)
            crc = zlib.crc32(body) if body == chats else 0
            out.write(
                struct.pack("<4s5H3L2H", b"PK\x03\x04", 45, 0, 0, 0, 0, crc, 0xFFFFFFFF, 0xFFFFFFFF, len(name), 20)
            )
            out.write(name + sizes + body)
            out.seek(size - len(body), os.SEEK_CUR)
            wide = struct.pack("<2H3Q", 1, 24, size, size, start)
            head = struct.pack(
                "<4s6H3L5H2L", b"PK\x01\x02", 45, 45, 0, 0, 0, 0, crc, 0xFFFFFFFF, 0xFFFFFFFF, len(name), len(wide),
                0, 0, 0, 0, 0xFFFFFFFF,
            )  # fmt: skip
            entries.append(head + name + wide)
        start, directory = out.tell(), b"".join(entries)
        out.write(directory)
        end = out.tell()
        out.write(struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 3, 3, len(directory), start))
        out.write(struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1))
        out.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 3, 3, 0xFFFFFFFF, 0xFFFFFFFF, 0))
