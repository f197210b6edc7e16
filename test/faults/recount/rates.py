"""Counts again, from the log, what the partials of `rates` say of streams and minutes, and which streams have fallen silent. Shares no code with the product.

    python3 rates.py CONFIG.json

CONFIG is that of recount.py, with "silent" (a prefix of the services that stop). Prints {"figures", "violations"} as recount.py does. Works on a cluster at rest."""

import json
import sys
import time
from collections import Counter, defaultdict

import columns
from kafka_log import Kafka
from world import LOGS

PARTIALS = "partials.v1"
MINUTE_MS, MINUTE_NS = 60_000, 60_000_000_000
OLDEST, NEWEST = 15 * 24 * 60, 60
FIRST_ERROR = 5
EXAMPLES = 20


class Bytes:
    """Integers as LEB128, texts after their length (docs/topics.md)."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def count(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        value = self.count()
        return -((value + 1) // 2) if value % 2 else value // 2

    def text(self) -> bytes:
        length = self.count()
        self.at += length
        return self.data[self.at - length : self.at]


def of_log(kafka: Kafka) -> dict[tuple, list[int]]:
    """Entries and errors by tenant, stream and minute."""
    counts: dict[tuple, list[int]] = defaultdict(lambda: [0, 0])
    for partition in kafka.partitions(LOGS):
        for record in kafka.records(LOGS, partition):
            if record.headers.get("encoding") != b"columns" or not record.value:
                continue
            rows = columns.read(record.value, int(record.headers["count"]))
            tenant, now = int(record.headers["tenant"]), record.timestamp // MINUTE_MS
            for at, stream, severity in zip(rows["_time"], rows["stream_id"], rows["severity"]):
                minute = at // MINUTE_NS
                if now - OLDEST <= minute <= now + NEWEST:
                    count = counts[(tenant, stream, minute)]
                    count[0] += 1
                    count[1] += severity >= FIRST_ERROR
    return counts


def of_partials(kafka: Kafka) -> tuple[dict[tuple, list[int]], dict[tuple, str], dict[int, int]]:
    """The same from the partials, each taken where it comes first; the label sets of streams; and up to which append time each partition is counted."""
    counts: dict[tuple, list[int]] = defaultdict(lambda: [0, 0])
    labels: dict[tuple, str] = {}
    taken: dict[tuple, tuple] = {}
    through: dict[int, int] = {}
    for partition in kafka.partitions(PARTIALS):
        for record in kafka.records(PARTIALS, partition):
            if record.headers.get("processor") != b"rates":
                continue
            source, offset, number, appended = (int(part) for part in record.headers["source"].split(b":"))
            if (offset, number) <= taken.get((partition, source), (-1, -1)):
                continue
            taken[(partition, source)] = (offset, number)
            through[source] = max(through.get(source, 0), appended)
            tenant, data = int(record.headers["tenant"]), Bytes(record.value)
            assert data.count() == 1
            for _ in range(data.count()):
                identity, stream = data.text(), data.text()
                # two words of four bytes, the higher one first
                number_of = int.from_bytes(identity[0:4], "little") << 32 | int.from_bytes(identity[4:8], "little")
                if stream:
                    labels[(tenant, number_of)] = stream.decode()
                minute = 0
                for _ in range(data.count()):
                    minute += data.signed()
                    mask = data.count()
                    for kind in range(mask.bit_length()):
                        if mask >> kind & 1:
                            entries = data.count()
                            count = counts[(tenant, number_of, minute)]
                            count[0] += entries
                            count[1] += entries if kind >= FIRST_ERROR else 0
    return counts, labels, through


def silent_since(minutes: Counter, begin: int, end: int) -> int | None:
    """The minute whose end shows that a stream has stopped: three without an entry where 60 were expected by the hour before, or four where 16 were."""
    run = 0
    for minute in range(begin + 180, end + 1):
        run = run + 1 if minutes[minute] == 0 else 0
        usual = sum(minutes[before] for before in range(minute - 70, minute - 10)) / 60
        if run >= 3 and usual > 3 and (usual * run >= 60 or (run >= 4 and usual * run >= 16)):
            return minute
    return None


def alerts(config: dict, detector: str) -> list[list[str]]:
    import urllib.request

    clickhouse = config["clickhouse"]
    headers = {"X-ClickHouse-User": clickhouse["user"], "X-ClickHouse-Key": clickhouse["password"]}
    sql = f"SELECT stream, argMin(evidence, version), argMax(evidence, version), argMax(fire_count, version) FROM alerts WHERE part = 0 AND detector = '{detector}' AND state = 'firing' GROUP BY stream, id FORMAT JSONCompactEachRow"
    with urllib.request.urlopen(urllib.request.Request(f"{clickhouse['url']}/?database={clickhouse['database']}", sql.encode(), headers), timeout=60) as response:
        return [json.loads(line) for line in response.read().decode().splitlines()]


def minute_of(text: str) -> int:
    import datetime

    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()) // 60


def silences(config: dict, counts: dict, labels: dict, through: dict) -> tuple[int, list]:
    """Streams that have stopped by the rule, against alerts of `silence`: which, since when, and how often each has fired."""
    by_stream: dict[str, Counter] = defaultdict(Counter)
    for (tenant, stream, minute), (entries, _errors) in counts.items():
        label = labels.get((tenant, stream), "")
        if config["silent"] in label:
            by_stream[label][minute] += entries
    final = min(through.values()) // MINUTE_MS - 11  # closed after three minutes, and looked at seven later
    expected = {}
    for label, minutes in by_stream.items():
        since = silent_since(minutes, min(minutes), final)
        if since is not None:
            expected[label] = since
    wrong = []
    found = {stream: (minute_of(json.loads(first)["window"]["end"]) - 1, minute_of(json.loads(last)["window"]["end"]) - 1, int(count)) for stream, first, last, count in alerts(config, "silence") if config["silent"] in stream}
    for label in sorted(set(expected) | set(found)):
        since, told = expected.get(label), found.get(label)
        if told is None or since != told[0]:
            wrong.append({"stream": label, "recount": since, "alert": told})
        elif told[2] != told[1] - told[0] + 1:
            wrong.append({"stream": label, "windows": told[1] - told[0] + 1, "fire_count": told[2]})
    return len(expected), wrong


def main(config: dict) -> dict:
    kafka = Kafka(config["kafka"]["host"], config["kafka"]["port"])
    log = of_log(kafka)
    deadline = time.monotonic() + 120
    while True:
        told, labels, through = of_partials(kafka)
        different = [key for key in set(log) | set(told) if log.get(key) != told.get(key)]
        if not different or time.monotonic() > deadline:
            break
        time.sleep(5)
    count, wrong = silences(config, log, labels, through)
    checks = [("the rates of a stream and minute are not the recount", [[*key, log.get(key), told.get(key)] for key in sorted(different)]), ("an alert of silence is not the recount", wrong)]
    figures = {"stream-minutes counted again": len(log), "silences counted again": count}
    return {"figures": figures, "violations": [{"check": check, "count": len(found), "examples": found[:EXAMPLES]} for check, found in checks if found]}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(json.dumps(main(json.load(file))))
