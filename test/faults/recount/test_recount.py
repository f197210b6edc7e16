"""Tests of the recount on made worlds: each thing that must not be is found, and nothing where all is well."""

import json
import struct
import tempfile
import unittest
import unittest.mock
import zlib
from collections import Counter

import kafka_log
import snappy
from recount import entries, patterns, positions, report, searches, usage, volume
from world import DAY_MS, LogRecord, Request, ends_of, log_record, read_ledger

NONE: frozenset = frozenset()


class FakeWorld:
    """Two requests of three and two entries, on two records, stored."""

    def __init__(self) -> None:
        self.requests = {
            "0-0.0": Request(3, frozenset([1]), 100, "acked"),
            "0-1.0": Request(2, NONE, 50, "unknown"),
            "1-0.0": Request(4, NONE, 70, "rejected"),
        }
        self.partitions = [0, 1]
        self.records = [
            LogRecord(0, 0, 5 * DAY_MS, 1, 2, 100, ["0-0.0.0", "0-0.0.2"]),
            LogRecord(1, 0, 5 * DAY_MS, 1, 2, 50, ["0-1.0.0", "0-1.0.1"]),
        ]
        self.rows = [(record.partition, record.offset, index, uid) for record in self.records for index, uid in enumerate(record.uids)]
        self.ends = {0: 1, 1: 1}
        self.committed = {0: (1, ""), 1: (1, "")}
        self.usage = {0: {"next": 1, "days": [[5, [[1, 100]]]]}, 1: {"next": 1, "days": [[5, [[1, 50]]]]}}
        self.config = {"apis": [{"adminUrl": "http://admin", "appUrl": "http://app"}], "adminToken": "", "key": ""}
        self.api_bytes, self.hits = 150, 4
        # of partition 0 its only record, by minute
        self.volume = [["0", "60", "0", "1", "1", "2", "2", "0"]]
        self.entries = [["0", "0", "1", "7200", "77", "5", "3", "2"], ["1", "0", "1", "7201", "78", "5", "5", "2"]]
        self.patterns = [["0", "60", "0", "1", "1", "0", "7200", "77", "5", "3", "2"], ["0", "60", "0", "1", "1", "2", "7200", "0", "0", "0", "0"]]

    def query(self, sql: str) -> list[list[str]]:
        if "extract(_msg" in sql:
            return [[uid, str(count)] for uid, count in Counter(uid for *_, uid in self.rows).items()]
        if "FROM pattern_counts" in sql:
            return self.patterns
        if "pattern != 0" in sql:
            return self.entries
        if "FROM volume" in sql:
            return self.volume
        if "GROUP BY kafka_part" in sql:
            groups: dict = {}
            for part, off, index, _ in self.rows:
                groups.setdefault((part, off), []).append(index)
            return [[str(part), str(off), str(len(found)), str(len(set(found))), str(max(found))] for (part, off), found in groups.items()]
        return [[str(len(self.rows))]]

    def get(self, url: str, _key: str):
        if "usage" in url:
            return [{"bytes": self.api_bytes, "pending_bytes": 0}]
        return {"hits": [{"hits": self.hits}]}


def found(world: FakeWorld) -> set[str]:
    return {violation["check"] for count in (entries, positions, usage, volume, patterns, searches) for violation in report(count(world)[1])}


class RecountTest(unittest.TestCase):
    def test_nothing_where_all_is_well(self) -> None:
        self.assertEqual(found(FakeWorld()), set())

    def test_a_lost_row(self) -> None:
        world = FakeWorld()
        del world.rows[0]
        world.hits = 3
        expected = {
            "an acknowledged entry is not in the table",
            "the log and the table do not have the same entries",
            "a record is in the table in part",
        }
        self.assertEqual(found(world), expected)

    def test_a_segment_of_the_volume(self) -> None:
        segment = "a segment of the volume is not the recount"
        for change, expected in [
            ({5: "3", 6: "3"}, {segment}),
            ({6: "1"}, {segment}),
            ({6: "0", 7: "1"}, set()),
            ({4: "2"}, {segment}),
            ({2: "1", 3: "2", 5: "0", 6: "0"}, {segment, "records lie between two segments of the volume"}),
        ]:
            world = FakeWorld()
            world.volume[0] = [change.get(at, text) for at, text in enumerate(world.volume[0])]
            self.assertEqual(found(world), expected, change)
        world = FakeWorld()
        world.volume.append(["0", "60", "0", "2", "1", "2", "2", "0"])
        self.assertEqual(found(world), {"segments of the volume overlap"})

    def test_a_segment_of_the_patterns(self) -> None:
        segment = "a segment of the patterns is not the recount"
        between = "records lie between two segments of the patterns"
        for change, expected in [
            ({10: "3"}, {segment}),
            ({7: "78"}, {segment}),
            ({8: "6"}, {segment}),
            ({6: "7199"}, {segment}),
            ({5: "1", 7: "9", 8: "0"}, set()),
            ({5: "1", 10: "1"}, {segment}),
        ]:
            world = FakeWorld()
            world.patterns[0] = [change.get(at, text) for at, text in enumerate(world.patterns[0])]
            self.assertEqual(found(world), expected, change)
        world = FakeWorld()
        world.patterns[1][3] = world.patterns[0][3] = "0"
        self.assertEqual(found(world), {segment})
        world = FakeWorld()
        for row in world.patterns:
            row[2], row[3] = "1", "2"
        self.assertEqual(found(world), {segment, between})
        # by hours, and a segment of which something is still on its way
        world = FakeWorld()
        for row in world.patterns:
            row[1], row[6] = "3600", "120"
        self.assertEqual(found(world), set())
        world = FakeWorld()
        world.patterns = [[*world.patterns[0][:10], "1"]]
        self.assertEqual(found(world), set())

    def test_a_doubled_row(self) -> None:
        world = FakeWorld()
        world.rows.append(world.rows[1])
        world.hits = 5
        expected = {
            "an acknowledged entry is in the table more than once",
            "the log and the table do not have the same entries",
            "a position is in the table more than once",
        }
        self.assertEqual(found(world), expected)

    def test_a_doubled_record_on_the_log(self) -> None:
        world = FakeWorld()
        world.records.append(world.records[0]._replace(offset=1, bytes=0))
        world.rows += [(0, 1, index, uid) for index, uid in enumerate(world.records[0].uids)]
        world.ends[0], world.committed[0], world.usage[0]["next"], world.hits = 2, (2, ""), 2, 6
        self.assertEqual(found(world), {"an acknowledged entry is in the table more than once", "an entry is on the log more than once"})

    def test_a_lost_record(self) -> None:
        world = FakeWorld()
        world.rows = world.rows[2:]
        world.hits = 2
        self.assertIn("a record is not in the table", found(world))

    def test_an_acknowledged_request_that_never_reached_the_log(self) -> None:
        world = FakeWorld()
        world.requests["0-2.0"] = Request(1, NONE, 0, "acked")
        self.assertEqual(found(world), {"an acknowledged entry is not in the table", "an acknowledged entry is not on the log"})

    def test_entries_that_were_refused_or_are_nobodys(self) -> None:
        world = FakeWorld()
        world.rows += [(1, 0, 2, "1-0.0.3"), (1, 0, 3, "0-0.0.1"), (1, 0, 4, "9-9.0.0")]
        self.assertTrue({"a refused entry is present", "an entry in the table is nobody's"} <= found(world))

    def test_an_entry_in_doubt(self) -> None:
        world = FakeWorld()
        world.rows.append((1, 0, 2, "0-1.0.0"))
        self.assertIn("an entry in doubt is in the table more than once", found(world))

    def test_rows_beyond_the_log_a_gap_and_a_commit_that_lacks(self) -> None:
        world = FakeWorld()
        world.rows.append((0, 7, 0, "0-0.0.0"))
        world.records[1] = world.records[1]._replace(offset=3)
        world.committed[0] = (0, '{"e":0,"v":1}')
        expected = {
            "the table has rows of records that are not on the log",
            "the offsets of the log have a gap",
            "the sinks have not committed the whole log",
        }
        self.assertTrue(expected <= found(world))

    def test_ticks(self) -> None:
        headers = {"signal": b"logs", "tenant": b"0", "retention": b"0", "count": b"0", "bytes": b"0", "sv": b"2", "encoding": b"tick"}
        tick = log_record(0, kafka_log.Record(1, 5 * DAY_MS, None, b"", headers))
        world = FakeWorld()
        world.records = [world.records[0], tick, world.records[1]]
        world.committed[0] = (2, "")
        self.assertEqual(ends_of(world.partitions, world.records), world.ends)
        self.assertEqual(found(world), set())
        for changed, check in [
            ({"tenant": 1}, "a tick has a tenant, rows or bytes"),
            ({"bytes": 1}, "a usage snapshot is not the recount"),
            ({"count": 1}, "a record is not in the table"),
            ({"uids": [""]}, "a record's count is not that of its rows"),
        ]:
            world.records[1] = tick._replace(**changed)
            self.assertIn(check, found(world))

    def test_usage(self) -> None:
        for change, check in [
            (lambda world: world.usage[0].update(next=0), "the usage processor has not read the whole log"),
            (lambda world: world.usage[0].update(days=[[5, [[1, 101]]]]), "a usage snapshot is not the recount"),
            (lambda world: world.usage[0].update(days=[[4, [[1, 100]]]]), "a usage snapshot is not the recount"),
            (lambda world: setattr(world, "api_bytes", 149), "an API's usage is not the recount"),
            (lambda world: setattr(world, "hits", 3), "an API does not count the rows of the table"),
            (lambda world: world.requests.update({"0-0.0": Request(3, frozenset([1]), 151, "acked")}), "the volume is not between what was acknowledged and what was sent"),
        ]:
            world = FakeWorld()
            change(world)
            self.assertEqual(found(world), {check})

    def test_the_ledger(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            sent = {"kind": "sent", "entries": 2, "refused": [0], "bytes": 9}
            lines = [{**sent, "request": "a"}, {**sent, "request": "b"}, {"kind": "acked", "request": "a"}]
            file.write("".join(json.dumps(line) + "\n" for line in lines) + '{"kind":"ac')
            file.flush()
            self.assertEqual(read_ledger(file.name), {"a": Request(2, frozenset([0]), 9, "acked"), "b": Request(2, frozenset([0]), 9, "unknown")})


def zigzag(value: int) -> bytes:
    value, out = (value << 1) ^ (value >> 63), bytearray()
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def made_batch(base: int, values: list[bytes], codec: int, squeeze) -> bytes:
    records = b""
    for delta, value in enumerate(values):
        body = b"\x00" + zigzag(delta) + zigzag(delta) + zigzag(-1) + zigzag(len(value)) + value + zigzag(1) + zigzag(1) + b"h" + zigzag(2) + b"42"
        records += zigzag(len(body)) + body
    head = struct.pack(">b4xhiqq", 2, codec | 8, len(values) - 1, 1000, 2000) + struct.pack(">qhii", -1, -1, -1, len(values))
    rest = head + squeeze(records)
    return struct.pack(">qii", base, len(rest) + 4, 0) + rest


class KafkaLogTest(unittest.TestCase):
    def test_batches(self) -> None:
        gzip = zlib.compressobj(wbits=31)
        data = made_batch(7, [b"a", b"bb"], 0, bytes) + made_batch(9, [b"ccc"], 1, lambda raw: gzip.compress(raw) + gzip.flush())
        read = list(kafka_log.batches(data + data[:40]))
        self.assertEqual([following for following, _ in read], [9, 10])
        records = [record for _, batch in read for record in batch]
        self.assertEqual([(record.offset, record.value, record.timestamp) for record in records], [(7, b"a", 2000), (8, b"bb", 2000), (9, b"ccc", 2000)])
        self.assertEqual(records[0].headers, {"h": b"42"})

    def test_leader_and_coordinator(self) -> None:
        """A partition is asked of its leader as it is now, whoever led before; commits of the group's coordinator."""
        text = kafka_log.text
        brokers = struct.pack(">i", 2) + b"".join(struct.pack(">i", node) + text("host") + struct.pack(">ih", node, -1) for node in (1, 2))
        leaders, asked = iter([-1, 1, 2, 2]), []

        class FakeNode:
            def __init__(self, _host: str, port: int) -> None:
                self.port = port

            def call(self, api: int, _version: int, _body: bytes) -> kafka_log.Reader:
                asked.append((self.port, api))
                if api == kafka_log.METADATA:
                    partition = struct.pack(">hiiii", 0, 0, next(leaders), 0, 0)
                    return kafka_log.Reader(brokers + struct.pack(">iih", 1, 1, 0) + text("t") + struct.pack(">bi", 0, 1) + partition)
                if api == kafka_log.LIST_OFFSETS:
                    return kafka_log.Reader(struct.pack(">i", 1) + text("t") + struct.pack(">iihqq", 1, 0, 0 if self.port == 2 else 6, -1, 41))
                if api == kafka_log.FIND_COORDINATOR:
                    return kafka_log.Reader(struct.pack(">hi", 0, 1) + text("host") + struct.pack(">i", 1))
                return kafka_log.Reader(struct.pack(">i", 1) + text("t") + struct.pack(">iiq", 1, 0, 40) + text("m") + struct.pack(">h", 0))

        with unittest.mock.patch.object(kafka_log, "Node", FakeNode):
            kafka = kafka_log.Kafka("host", 9)
            self.assertEqual(kafka.offset("t", 0, kafka_log.LATEST), 41)
            self.assertEqual([port for port, api in asked if api == kafka_log.LIST_OFFSETS], [1, 2])
            self.assertEqual(kafka.committed("g", "t", [0]), {0: (40, "m")})
            self.assertEqual(asked[-2:], [(9, kafka_log.FIND_COORDINATOR), (1, kafka_log.OFFSET_FETCH)])

    def test_errors(self) -> None:
        with self.assertRaises(kafka_log.Moved):
            kafka_log.check(6, "Fetch")
        with self.assertRaisesRegex(RuntimeError, "Fetch: Kafka's error 1"):
            kafka_log.check(1, "Fetch")

    def test_snappy(self) -> None:
        # literal "ab", then a copy of 6 from 2 back (overlapping), then a copy with a two-byte offset
        block = bytes([12, 0b000001_00]) + b"ab" + bytes([0b000_010_01, 2]) + bytes([0b000011_10, 8, 0])
        self.assertEqual(snappy.decompress(block), b"abababababab")
        framed = snappy.XERIAL + b"\x00\x00\x00\x01\x00\x00\x00\x01" + struct.pack(">i", len(block)) + block
        self.assertEqual(snappy.decompress(framed), b"abababababab")
        with self.assertRaises(ValueError):
            snappy.decompress(bytes([4, 0b000_000_01, 9]))


if __name__ == "__main__":
    unittest.main()
