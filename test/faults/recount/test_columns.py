"""Tests of the reader of columns, over bytes written by hand."""

import struct
import unittest

import columns
import lz4
from kafka_log import Record
from world import log_record


def text(value: str) -> bytes:
    raw = value.encode()
    return bytes([len(raw)]) + raw if len(raw) < 128 else bytes([len(raw) & 0x7F | 0x80, len(raw) >> 7]) + raw


def frame(data: bytes) -> bytes:
    """One frame whose block is literals alone."""
    length = len(data)
    head = bytes([length << 4]) if length < 15 else bytes([0xF0]) + b"\xff" * ((length - 15) // 255) + bytes([(length - 15) % 255])
    block = head + data
    return bytes(16) + struct.pack("<BII", 0x82, len(block) + 9, length) + block


LONG = "uid=1-2.3.1 " + "é" * 100

# Two rows, of which the second has no fields.
PLAIN = b"".join(
    [
        text("_time") + text("DateTime64(9, 'UTC')") + struct.pack("<2q", 1_795_182_899_000_000_001, -1),
        text("stream_id") + text("UInt64") + struct.pack("<2Q", 2**64 - 1, 7),
        text("severity") + text("UInt8") + b"\x03\x05",
        text("pattern") + text("UInt64") + struct.pack("<2Q", 0, 9),
        text("level") + text("LowCardinality(String)") + struct.pack("<QQQ", 1, 0x600, 2) + text("error") + text("info") + struct.pack("<Q", 2) + b"\x01\x00",
        text("service") + text("LowCardinality(String)") + struct.pack("<QQQ", 1, 0x601, 1) + text("web") + struct.pack("<QHH", 2, 0, 0),
        text("trace_id") + text("String") + text("abc") + text(""),
        text("span_id") + text("String") + text("") + text(""),
        text("_msg") + text("String") + text("uid=1-2.3.0 a") + text(LONG),
        text("fields") + text("Map(LowCardinality(String), String)") + struct.pack("<QQQ", 1, 2, 2),
        struct.pack("<QQ", 0x602, 2) + text("host") + text("status") + struct.pack("<QII", 2, 1, 0) + text("200") + text("h1"),
        text("json_keys") + text("Array(LowCardinality(String))") + struct.pack("<QQQ", 1, 1, 1),
        struct.pack("<QQ", 0x600, 1) + text("status") + struct.pack("<Q", 1) + b"\x00",
    ]
)
# the same without a field in any row: of the dictionaries nothing but their version is there
BARE = PLAIN[: PLAIN.index(b"\x06fields")] + b"".join(
    text(name) + text(kind) + struct.pack("<QQQ", 1, 0, 0) for name, kind in [("fields", "Map(LowCardinality(String), String)"), ("json_keys", "Array(LowCardinality(String))")]
)


class ColumnsTest(unittest.TestCase):
    def test_rows(self) -> None:
        # frames may end anywhere
        for cut in (0, 1, 100, len(PLAIN)):
            read = columns.read(frame(PLAIN[:cut]) + frame(PLAIN[cut:]), 2)
            self.assertEqual(read["_time"], [1_795_182_899_000_000_001, -1])
            self.assertEqual(read["stream_id"], [2**64 - 1, 7])
            self.assertEqual((read["severity"], read["pattern"]), ([3, 5], [0, 9]))
            self.assertEqual((read["level"], read["service"]), (["info", "error"], ["web", "web"]))
            self.assertEqual((read["trace_id"], read["span_id"]), (["abc", ""], ["", ""]))
            self.assertEqual(read["_msg"], ["uid=1-2.3.0 a", LONG])
            self.assertEqual(read["fields"], [{"status": "200", "host": "h1"}, {}])
            self.assertEqual(read["json_keys"], [["status"], []])

    def test_no_fields_at_all(self) -> None:
        read = columns.read(frame(BARE), 2)
        self.assertEqual((read["fields"], read["json_keys"]), ([{}, {}], [[], []]))

    def test_what_is_something_else(self) -> None:
        whole = frame(PLAIN)
        for name, value, count in [
            ("another number of rows", whole, 1),
            ("more rows", whole, 3),
            ("a byte more", frame(PLAIN + b"\x00"), 2),
            ("a byte less", frame(PLAIN[:-1]), 2),
            ("another type", frame(PLAIN.replace(b"UInt8", b"UInt7")), 2),
            ("another name", frame(PLAIN.replace(b"level", b"lavel")), 2),
            ("a frame cut off", whole[:-1], 2),
            ("a head cut off", whole[:20], 2),
            ("another method", whole[:16] + b"\x90" + whole[17:], 2),
            ("another size", whole[:21] + struct.pack("<I", len(PLAIN) + 1) + whole[25:], 2),
            ("nothing", b"", 2),
        ]:
            with self.subTest(name), self.assertRaises(ValueError):
                columns.read(value, count)

    def test_lz4(self) -> None:
        # "ab", then 4 from 2 back (overlapping), then 15 + 1 + 4 from 6 back, then "!"
        block = bytes([0x20]) + b"ab" + bytes([2, 0, 0x0F, 6, 0, 1, 0x10]) + b"!"
        self.assertEqual(lz4.decompress(block, 27), b"ab" * 13 + b"!")
        for name, block, size in [
            ("no last literals", bytes([0x20]) + b"ab" + bytes([2, 0]), 6),
            ("from before the beginning", bytes([0x10]) + b"a" + bytes([2, 0, 0]), 5),
            ("of nothing", bytes([0x10]) + b"a" + bytes([0, 0, 0]), 5),
            ("literals beyond the block", bytes([0x50]) + b"a", 5),
            ("a length without end", bytes([0xF0, 255]), 300),
            ("more than it says", bytes([0x1F]) + b"a" + bytes([1, 0, 255, 255, 0, 0]), 20),
            ("nothing", b"", 0),
        ]:
            with self.subTest(name), self.assertRaises(ValueError):
                lz4.decompress(block, size)


class LogRecordTest(unittest.TestCase):
    """The rows of a record in each encoding."""

    def uids(self, value: bytes, encoding: bytes, count: bytes = b"2") -> list[str]:
        headers = {"tenant": b"1", "count": count, "bytes": b"50", "encoding": encoding}
        return log_record(0, Record(7, 1000, None, value, headers)).uids

    def test_encodings(self) -> None:
        expected = ["1-2.3.0", "1-2.3.1"]
        self.assertEqual(self.uids(frame(PLAIN), b"columns"), expected)
        self.assertEqual(self.uids(b'{"_msg":"uid=1-2.3.0"}\n{"_msg":"uid=1-2.3.1"}\n', b"ndjson"), expected)

    def test_columns_that_are_none_have_no_rows(self) -> None:
        self.assertEqual(self.uids(frame(PLAIN)[:-1], b"columns"), [])
        self.assertEqual(self.uids(frame(PLAIN), b"columns", b"3"), [])

    def test_a_record_of_bytes_alone(self) -> None:
        self.assertEqual(self.uids(b"", b"columns", b"0"), [])


if __name__ == "__main__":
    unittest.main()
