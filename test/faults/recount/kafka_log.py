"""Reads a Kafka log over a socket, with no client library: Metadata, ListOffsets, Fetch, FindCoordinator, OffsetFetch and record batches of version 2.

https://kafka.apache.org/protocol, https://kafka.apache.org/documentation/#recordbatch; no security."""

import socket
import struct
import time
import zlib
from typing import Callable, Iterator, NamedTuple, TypeVar

import snappy

FETCH, LIST_OFFSETS, METADATA, OFFSET_FETCH, FIND_COORDINATOR = 1, 2, 3, 9, 10
# leader not available, not the leader, coordinator loading, not available, not the coordinator, fenced and unknown epoch, offset not available
MOVED = {5, 6, 14, 15, 16, 74, 75, 78}
PATIENCE_S = 60
Answer = TypeVar("Answer")
EARLIEST, LATEST = -2, -1
MAX_BYTES = 16 * 1024 * 1024


class Record(NamedTuple):
    offset: int
    timestamp: int  # milliseconds; the append time where the topic says so
    key: bytes | None
    value: bytes | None
    headers: dict[str, bytes]


class Reader:
    """Takes fields from a response, one after the other."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, form: str) -> int:
        value = struct.unpack_from(">" + form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def bytes(self, length: int) -> bytes | None:
        if length < 0:
            return None
        self.at += length
        return self.data[self.at - length : self.at]

    def string(self) -> str | None:
        value = self.bytes(self.take("h"))
        return None if value is None else value.decode()

    def count(self) -> range:
        return range(max(0, self.take("i")))

    def varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


class Moved(Exception):
    """The node that was asked is not, or not yet, the one to ask."""


class Node:
    """A connection to one broker."""

    def __init__(self, host: str, port: int):
        self.socket = socket.create_connection((host, port), timeout=60)
        self.correlation = 0

    def call(self, api: int, version: int, body: bytes) -> Reader:
        self.correlation += 1
        message = struct.pack(">hhi", api, version, self.correlation) + text("recount") + body
        self.socket.sendall(struct.pack(">i", len(message)) + message)
        size = struct.unpack(">i", self._read(4))[0]
        reader = Reader(self._read(size))
        if reader.take("i") != self.correlation:
            raise RuntimeError("an answer to another request")
        return reader

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(min(1 << 20, size - len(data)))
            if not part:
                raise ConnectionError("Kafka has closed the connection")
            data += part
        return bytes(data)


class Kafka:
    """A cluster of one broker or several: each partition is read from its leader, and up to its high watermark."""

    def __init__(self, host: str, port: int):
        self.first = Node(host, port)
        self.nodes: dict[tuple[str, int], Node] = {}

    def close(self) -> None:
        for node in [self.first, *self.nodes.values()]:
            node.socket.close()

    def partitions(self, topic: str) -> list[int]:
        return sorted(self._leaders(topic))

    def offset(self, topic: str, partition: int, when: int) -> int:
        def ask() -> int:
            body = struct.pack(">ii", -1, 1) + text(topic) + struct.pack(">iiq", 1, partition, when)
            reader = self._leader(topic, partition).call(LIST_OFFSETS, 1, body)
            reader.take("i"), reader.string(), reader.take("i"), reader.take("i")
            check(reader.take("h"), "ListOffsets")
            reader.take("q")
            return reader.take("q")

        return patiently(ask)

    def committed(self, group: str, topic: str, partitions: list[int]) -> dict[int, tuple[int, str]]:
        """Committed offset (-1: none) and its metadata, by partition."""

        def ask() -> dict[int, tuple[int, str]]:
            body = text(group) + struct.pack(">i", 1) + text(topic) + struct.pack(">i", len(partitions))
            reader = self._coordinator(group).call(OFFSET_FETCH, 1, body + b"".join(struct.pack(">i", partition) for partition in partitions))
            found = {}
            for _ in reader.count():
                reader.string()
                for _ in reader.count():
                    partition, offset, metadata = reader.take("i"), reader.take("q"), reader.string()
                    check(reader.take("h"), "OffsetFetch")
                    found[partition] = (offset, metadata or "")
            return found

        return patiently(ask)

    def records(self, topic: str, partition: int) -> Iterator[Record]:
        """Every record from the beginning of the log to its present end."""
        at, end = self.offset(topic, partition, EARLIEST), self.offset(topic, partition, LATEST)
        while at < end:
            data = patiently(lambda: self._fetch(topic, partition, at))
            following = at
            for next_offset, records in batches(data):
                following = next_offset
                yield from (record for record in records if at <= record.offset < end)
            if following == at:
                raise RuntimeError(f"{topic}/{partition} does not go on at {at} of {end}")
            at = following

    def _fetch(self, topic: str, partition: int, at: int) -> bytes:
        ranges = struct.pack(">iqi", partition, at, MAX_BYTES)
        body = struct.pack(">iiiibi", -1, 500, 1, MAX_BYTES, 0, 1) + text(topic) + struct.pack(">i", 1) + ranges
        reader = self._leader(topic, partition).call(FETCH, 4, body)
        reader.take("i"), reader.take("i"), reader.string(), reader.take("i"), reader.take("i")
        check(reader.take("h"), "Fetch")
        reader.take("q"), reader.take("q")
        for _ in reader.count():
            reader.take("q"), reader.take("q")
        return reader.bytes(reader.take("i")) or b""

    def _leaders(self, topic: str) -> dict[int, tuple[str, int] | None]:
        """Where the leader of each partition is; None: there is none just now."""
        reader = self.first.call(METADATA, 1, struct.pack(">i", 1) + text(topic))
        nodes = {}
        for _ in reader.count():
            node, host, port, _rack = reader.take("i"), reader.string() or "", reader.take("i"), reader.string()
            nodes[node] = (host, port)
        reader.take("i")
        found: dict[int, tuple[str, int] | None] = {}
        for _ in reader.count():
            error, _name, _internal = reader.take("h"), reader.string(), reader.take("b")
            if error == 3:
                return {}
            for _ in reader.count():
                _error, index, leader = reader.take("h"), reader.take("i"), reader.take("i")
                found[index] = nodes.get(leader)
                for _ in range(2):
                    for _ in reader.count():
                        reader.take("i")
        return found

    def _leader(self, topic: str, partition: int) -> Node:
        return self._node(self._leaders(topic).get(partition))

    def _coordinator(self, group: str) -> Node:
        reader = self.first.call(FIND_COORDINATOR, 0, text(group))
        check(reader.take("h"), "FindCoordinator")
        reader.take("i")
        return self._node((reader.string() or "", reader.take("i")))

    def _node(self, address: tuple[str, int] | None) -> Node:
        if address is None:
            raise Moved("no leader")
        if address not in self.nodes:
            self.nodes[address] = Node(*address)
        return self.nodes[address]


def check(error: int, what: str) -> None:
    if error in MOVED:
        raise Moved(f"{what}: Kafka's error {error}")
    if error != 0:
        raise RuntimeError(f"{what}: Kafka's error {error}")


def patiently(ask: Callable[[], Answer]) -> Answer:
    """Asks again for a while where a leader or coordinator has moved, and where a new leader does not know the end of its log yet."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return ask()
        except Moved:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def batches(data: bytes) -> Iterator[tuple[int, list[Record]]]:
    """The record batches of a fetch, each with the offset that follows it; one that is cut off at the end is left out."""
    at = 0
    while at + 61 <= len(data):
        base, length = struct.unpack_from(">qi", data, at)
        if at + 12 + length > len(data):
            return
        yield batch(data[at : at + 12 + length], base)
        at += 12 + length


def batch(data: bytes, base: int) -> tuple[int, list[Record]]:
    magic, attributes, last_delta, first_time, max_time = struct.unpack_from(">b4xhiqq", data, 16)
    count = struct.unpack_from(">i", data, 57)[0]
    following = base + last_delta + 1
    if magic != 2:
        raise RuntimeError(f"record batches of version {magic} are not known")
    if attributes & 0x20:  # a control batch has no records of anybody
        return following, []
    reader = Reader(inflate(attributes & 7, data[61:]))
    is_append_time = attributes & 8
    records = []
    for _ in range(count):
        reader.varint(), reader.take("b")
        time_delta, delta = reader.varint(), reader.varint()
        key, value = reader.bytes(reader.varint()), reader.bytes(reader.varint())
        headers = {}
        for _ in range(reader.varint()):
            name = (reader.bytes(reader.varint()) or b"").decode()
            headers[name] = reader.bytes(reader.varint()) or b""
        records.append(Record(base + delta, max_time if is_append_time else first_time + time_delta, key, value, headers))
    return following, records


def inflate(codec: int, data: bytes) -> bytes:
    if codec == 0:
        return data
    if codec == 1:
        return zlib.decompress(data, 31)
    if codec == 2:
        return snappy.decompress(data)
    raise RuntimeError(f"compression {codec} is not known")
