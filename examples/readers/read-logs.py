"""Prints time (ns), stream and message of each entry on logs.v1, a JSON array a line: python3 read-logs.py HOST:PORT
pip install -r requirements.txt; docs/topics.md has the form of a record."""

import io, json, struct, sys

import lz4.block
from kafka import KafkaConsumer


def entries(value, headers):
    """Time, stream and message of each row of a record. What stands behind the messages (fields) is not read."""
    count, streams = int(headers["count"]), dict(stream[:2] for stream in json.loads(headers["streams"]))
    if headers["encoding"] == b"ndjson" or count == 0:
        return [(row["_time"], streams[row["_stream_id"]], row.get("_msg", "")) for row in map(json.loads, value.splitlines())]
    frames, data = io.BytesIO(value), io.BytesIO()
    # a frame: a checksum (16 bytes), 0x82, the size from there on, the size unpacked, an LZ4 block
    while head := frames.read(25):
        packed, size = struct.unpack("<17xII", head)
        data.write(lz4.block.decompress(frames.read(packed - 9), uncompressed_size=size))
    data.seek(0)

    def length(byte):
        return byte if byte < 128 else byte - 128 + 128 * length(data.read(1)[0])

    def texts(size):
        return [data.read(length(data.read(1)[0])).decode() for _ in range(size)]

    def column():
        _, kind = texts(2)
        if kind == "String":
            return texts(count)
        if kind.startswith("LowCardinality"):
            # version, width of the numbers, how many words; these; how many numbers, and these
            width, words = struct.unpack("<8xB7xQ", data.read(24))
            return texts(words), data.read(8 + count * 2**width)
        return [int.from_bytes(data.read(1 if kind == "UInt8" else 8), "little", signed=kind.startswith("Date")) for _ in range(count)]

    times, ids, *_, messages = [column() for _ in range(9)]
    return [(str(time), streams[str(stream)], message) for time, stream, message in zip(times, ids, messages)]


if __name__ == "__main__":
    for record in KafkaConsumer("logs.v1", bootstrap_servers=sys.argv[1], auto_offset_reset="earliest"):
        for entry in entries(record.value, dict(record.headers)):
            print(json.dumps(entry, ensure_ascii=False), flush=True)
