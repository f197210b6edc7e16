"""Prints time (ns), stream and message of each entry on logs.v1, a JSON array a line: python3 read-logs.py HOST:PORT
pip install -r requirements.txt; docs/topics.md has the form of a record."""

import io, itertools, json, struct, sys

import lz4.block
from kafka import KafkaConsumer


def columns_in(content, count=None):
    """Reads frames, column by column. They hold `count` rows, or as many as their head says."""
    frames, data = io.BytesIO(content), io.BytesIO()
    # a frame: a checksum (16 bytes), 0x82, the size from there on, the size unpacked, an LZ4 block
    while head := frames.read(25):
        packed, size = struct.unpack("<17xII", head)
        data.write(lz4.block.decompress(frames.read(packed - 9), uncompressed_size=size))
    data.seek(0)

    def length():
        return byte if (byte := data.read(1)[0]) < 128 else byte - 128 + 128 * length()

    def texts(size):
        return [data.read(length()).decode() for _ in range(size)]

    rows = count or (length(), length())[1]
    for _, kind in iter(lambda: texts(2), None):
        if kind.startswith("LowCardinality"):
            # version, width of the numbers, how many words; these; how many numbers, and these
            width, words = struct.unpack("<8xB7xQ", data.read(24))
            yield texts(words), data.read(8 + rows * 2**width)
        else:
            yield texts(rows) if kind == "String" else data.read(rows) if kind == "UInt8" else struct.unpack(f"<{rows}q", data.read(8 * rows))


def entries(value, headers):
    """Time, stream and message of each row of a record. What stands behind the messages (fields) is not read."""
    if headers["encoding"] == b"ndjson" or headers["count"] == b"0":
        streams = dict(stream[:2] for stream in json.loads(headers.get("streams") or "[]"))
        return [(row["_time"], streams[row["_stream_id"]], row.get("_msg", "")) for row in map(json.loads, value.splitlines())]
    streams = dict(zip(*itertools.islice(columns_in(headers["streams"]), 2)))
    times, ids, *_, messages = itertools.islice(columns_in(value, int(headers["count"])), 9)
    return [(str(time), streams[stream], message) for time, stream, message in zip(times, ids, messages)]


if __name__ == "__main__":
    for record in KafkaConsumer("logs.v1", bootstrap_servers=sys.argv[1], auto_offset_reset="earliest"):
        print(*(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries(record.value, dict(record.headers))), sep="", end="", flush=True)
