"""Prints time (ns), stream and message of each entry on logs.v1, a JSON array a line: python3 read-logs.py HOST:PORT
pip install -r requirements.txt; docs/topics.md has the form of a record."""

import json
import os
import struct
import sys


def columns_of(value):
    """The bytes of the columns: frames of a checksum (16 bytes), 0x82, the size from there on, the size unpacked, an LZ4 block."""
    import lz4.block

    at = 0
    while at < len(value):
        packed, size = struct.unpack_from("<II", value, at + 17)
        yield lz4.block.decompress(value[at + 25 : at + 16 + packed], uncompressed_size=size)
        at += 16 + packed


def text(data, at):
    """A text with its length before it, and where it ends."""
    length, shift = 0, 0
    while data[at] > 127:
        length, shift, at = length + ((data[at] & 127) << shift), shift + 7, at + 1
    start = at + 1
    end = start + length + (data[at] << shift)
    return data[start:end].decode(), end


def rows(value, count):
    """Time, stream id and message of each row. What stands behind the messages (fields) is not read."""
    data, at, found = b"".join(columns_of(value)), 0, {}
    while "_msg" not in found:
        name, at = text(data, at)
        kind, at = text(data, at)
        if kind.startswith("LowCardinality"):
            width, words = struct.unpack_from("<B7xQ", data, at + 8)
            at += 24
            for _ in range(words):
                _, at = text(data, at)
            at += 8 + count * 2**width
        elif kind == "String":
            found[name] = []
            for _ in range(count):
                item, at = text(data, at)
                found[name].append(item)
        else:
            form = {"UInt8": "B", "UInt64": "Q"}.get(kind, "q")
            found[name] = struct.unpack_from(f"<{count}{form}", data, at)
            at += count * struct.calcsize(form)
    return zip(found["_time"], found["stream_id"], found["_msg"])


def entries(value, headers):
    """The same of a record in either encoding, with the stream's labels instead of its id."""
    streams = {stream[0]: stream[1] for stream in json.loads(headers["streams"])}
    if headers["encoding"] == "columns":
        found = rows(value, int(headers["count"])) if value else []
    else:
        lines = [json.loads(line) for line in value.decode().split("\n") if line]
        found = [(line["_time"], line["_stream_id"], line.get("_msg", "")) for line in lines]
    for time, stream, message in found:
        yield str(time), streams[str(stream)], message


if __name__ == "__main__":
    from confluent_kafka import Consumer

    consumer = Consumer({"bootstrap.servers": sys.argv[1], "group.id": f"read-logs-{os.getpid()}", "auto.offset.reset": "earliest"})
    consumer.subscribe(["logs.v1"])
    while True:
        record = consumer.poll(1)
        if record is not None and record.error() is None:
            headers = {name: value.decode() for name, value in record.headers() or []}
            for entry in entries(record.value(), headers):
                print(json.dumps(entry, ensure_ascii=False), flush=True)
