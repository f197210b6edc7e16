"""Rows of a record of `logs.v1` whose encoding is `columns`: compressed frames of ClickHouse, within them columns of its Native format one after
the other, in a fixed order and without a block's header (docs/topics.md)."""

import struct
from typing import Callable

import lz4

CHECKSUM, HEAD, LZ4 = 16, 9, 0x82
MAX_FRAME = 16 * 1024 * 1024


def read(value: bytes, count: int) -> dict[str, list]:
    """The columns by name, each with so many values; raises ValueError where the value is anything else."""
    reader = Columns(unpacked(value), count)
    try:
        found = {name: reader.column(name, kind, read_data) for name, kind, read_data in COLUMNS}
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"a column cannot be read: {error}") from None
    if reader.at != len(reader.data):
        raise ValueError("there are bytes after the last column")
    return found


def unpacked(value: bytes) -> bytes:
    """What the frames hold together: a checksum (16 bytes, not compared), 0x82, the size with this head, the size unpacked, an LZ4 block."""
    parts, at = [], 0
    while at < len(value):
        if at + CHECKSUM + HEAD > len(value):
            raise ValueError("a frame is cut off")
        method, packed, size = struct.unpack_from("<BII", value, at + CHECKSUM)
        end = at + CHECKSUM + packed
        if method != LZ4 or packed < HEAD or end > len(value) or size > MAX_FRAME:
            raise ValueError("a frame is not one of LZ4 within its bounds")
        parts.append(lz4.decompress(value[at + CHECKSUM + HEAD : end], size))
        at = end
    return b"".join(parts)


class Columns:
    def __init__(self, data: bytes, count: int):
        self.data, self.count, self.at = data, count, 0

    def column(self, name: str, kind: str, read_data: Callable[["Columns"], list]) -> list:
        found = (self.text(), self.text())
        if found != (name, kind):
            raise ValueError(f"{found[0]} {found[1]} stands where {name} {kind} should")
        return read_data(self)

    def numbers(self, form: str, count: int) -> tuple[int, ...]:
        values = struct.unpack_from(f"<{count}{form}", self.data, self.at)
        self.at += struct.calcsize(form) * count
        return values

    def text(self) -> str:
        length, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        start, self.at = self.at, self.at + length
        if self.at > len(self.data):
            raise ValueError("a text is cut off")
        return self.data[start : self.at].decode(errors="replace")

    def texts(self, count: int) -> list[str]:
        return [self.text() for _ in range(count)]

    def version(self) -> None:
        if self.numbers("Q", 1) != (1,):
            raise ValueError("LowCardinality of a version that is not known")

    def words(self, count: int) -> list[str]:
        """LowCardinality: a dictionary, and for each value its number there."""
        if count == 0:
            return []
        flags, size = self.numbers("Q", 2)
        if flags >> 8 != 6 or flags & 0xFF > 2:
            raise ValueError("LowCardinality of a form that is not known")
        known = self.texts(size)
        if self.numbers("Q", 1) != (count,):
            raise ValueError("LowCardinality of another length")
        return [known[index] for index in self.numbers("BHI"[flags & 0xFF], count)]

    def offsets(self) -> tuple[int, ...]:
        """Where the elements of each row end."""
        ends = self.numbers("Q", self.count)
        if any(end < before for before, end in zip((0, *ends), ends)):
            raise ValueError("offsets go back")
        return ends


def numbers(form: str) -> Callable[[Columns], list]:
    return lambda columns: list(columns.numbers(form, columns.count))


def texts(columns: Columns) -> list:
    return columns.texts(columns.count)


def words(columns: Columns) -> list:
    columns.version()
    return columns.words(columns.count)


def lists(columns: Columns) -> list:
    columns.version()
    ends = columns.offsets()
    return sliced(columns.words(ends[-1] if ends else 0), ends)


def maps(columns: Columns) -> list:
    columns.version()
    ends = columns.offsets()
    names = columns.words(ends[-1] if ends else 0)
    return [dict(pairs) for pairs in sliced(list(zip(names, columns.texts(len(names)))), ends)]


def sliced(elements: list, ends: tuple[int, ...]) -> list[list]:
    return [elements[start:end] for start, end in zip((0, *ends), ends)]


COLUMNS = [
    ("_time", "DateTime64(9, 'UTC')", numbers("q")),
    ("stream_id", "UInt64", numbers("Q")),
    ("severity", "UInt8", numbers("B")),
    ("pattern", "UInt64", numbers("Q")),
    ("level", "LowCardinality(String)", words),
    ("service", "LowCardinality(String)", words),
    ("trace_id", "String", texts),
    ("span_id", "String", texts),
    ("_msg", "String", texts),
    ("fields", "Map(LowCardinality(String), String)", maps),
    ("json_keys", "Array(LowCardinality(String))", lists),
]
