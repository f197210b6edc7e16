"""What a recount looks at: the ledger of the load, the whole log on Kafka, and the table in ClickHouse, each read from its beginning."""

import json
import re
import time
import urllib.request
from typing import NamedTuple

import columns
from kafka_log import LATEST, Kafka, Record

UID = re.compile(rb"uid=([0-9]+-[0-9]+\.[0-9]+\.[0-9]+)")
LOGS, USAGE, COUNTERS = "logs.v1", "usage.v1", "counters.v1"
SINK_GROUP, VOLUME_GROUP = "logweir-sink-logs", "logweir-sink-volume"
DAY_MS = 86_400_000


class Request(NamedTuple):
    entries: int
    refused: frozenset[int]
    bytes: int
    outcome: str  # acked, rejected, unknown; a request whose outcome was not written down is unknown


class LogRecord(NamedTuple):
    partition: int
    offset: int
    timestamp: int
    tenant: int
    count: int
    bytes: int
    uids: list[str]
    is_tick: bool = False  # says nothing but that time has passed


class World:
    def __init__(self, config: dict):
        self.config = config
        self.kafka = Kafka(config["kafka"]["host"], config["kafka"]["port"])
        self.partitions = self.kafka.partitions(LOGS)
        self.settled_after = self._settle(config.get("settleSeconds", 120))
        self.requests = read_ledger(config["ledger"])
        self.records = [log_record(partition, record) for partition in self.partitions for record in self.kafka.records(LOGS, partition)]
        self.ends = ends_of(self.partitions, self.records)
        self.committed = self.kafka.committed(SINK_GROUP, LOGS, self.partitions)
        self.usage = self._usage()

    def query(self, sql: str) -> list[list[str]]:
        """The rows of a statement, their fields as text."""
        clickhouse = self.config["clickhouse"]
        headers = {"X-ClickHouse-User": clickhouse["user"], "X-ClickHouse-Key": clickhouse["password"]}
        url = f"{clickhouse['url']}/?database={clickhouse['database']}&default_format=TSV"
        with urllib.request.urlopen(urllib.request.Request(url, sql.encode(), headers), timeout=300) as response:
            text = response.read().decode()
        return [line.split("\t") for line in text.splitlines()]

    def get(self, url: str, key: str):
        """A JSON answer of the service."""
        headers = {"Authorization": f"Bearer {key}"}
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as response:
            return json.load(response)

    def _settle(self, seconds: float) -> float | None:
        """Waits until the sinks have committed all there is and the usage processor has read it; None: that did not come."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            latest = {partition: self.kafka.offset(LOGS, partition, LATEST) for partition in self.partitions}
            committed = self.kafka.committed(SINK_GROUP, LOGS, self.partitions)
            is_stored = all(end == 0 or is_done(committed.get(partition, (-1, "")), end) for partition, end in latest.items())
            if is_stored and self._counters_are_stored():
                usage = self._usage()
                if all(end == 0 or usage.get(partition, {"next": 0})["next"] >= end for partition, end in latest.items()):
                    return time.monotonic() - began
            time.sleep(0.5)
        return None

    def _counters_are_stored(self) -> bool:
        committed = self.kafka.committed(VOLUME_GROUP, COUNTERS, self.partitions)
        ends = {partition: self.kafka.offset(COUNTERS, partition, LATEST) for partition in self.partitions}
        return all(end == 0 or is_done(committed.get(partition, (-1, "")), end) for partition, end in ends.items())

    def _usage(self) -> dict[int, dict]:
        """What is told of each partition: its furthest snapshot, and the deltas that go on from there."""
        found: dict[int, dict] = {}
        for record in self.kafka.records(USAGE, 0):
            kind, _, rest = (record.key or b"").decode().partition(":")
            if kind not in ("partition", "delta") or record.value is None:
                continue
            # version 1, which knew logs.v1 alone, has no topic in its keys
            first, *others = rest.split(":")
            topic, number = (LOGS, first) if first.isdigit() else (first, others[0])
            if topic != LOGS:
                continue
            told, partition = json.loads(record.value), int(number)
            known = found.get(partition)
            if kind == "partition":
                if known is None or told["next"] >= known["next"]:
                    found[partition] = told
            elif known is not None and told["since"] <= known["next"] < told["next"]:
                days = {day: dict(tenants) for day, tenants in known["days"]}
                for day, tenants in told["days"]:
                    days.setdefault(day, {}).update(tenants)
                found[partition] = {"next": told["next"], "days": [[day, list(tenants.items())] for day, tenants in days.items()]}
        return found


def ends_of(partitions: list[int], records: list[LogRecord]) -> dict[int, int]:
    """The offset after the last record of each partition; ticks behind it go on coming."""
    return {partition: max((record.offset + 1 for record in records if record.partition == partition and not record.is_tick), default=0) for partition in partitions}


def is_done(committed: tuple[int, str], end: int) -> bool:
    """Whether a commit stands behind this end of the log, or at it and leaves no intent (`e`) behind."""
    offset, metadata = committed
    return offset > end or (offset == end and (metadata == "" or "e" not in json.loads(metadata)))


def read_ledger(file: str) -> dict[str, Request]:
    requests: dict[str, Request] = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("\n"):
                continue  # the end of a line that was being written
            entry = json.loads(line)
            name = entry["request"]
            if entry["kind"] == "sent":
                requests[name] = Request(entry["entries"], frozenset(entry["refused"]), entry["bytes"], "unknown")
            else:
                requests[name] = requests[name]._replace(outcome=entry["kind"])
    return requests


def log_record(partition: int, record: Record) -> LogRecord:
    value = record.value or b""
    header = {name: record.headers.get(name, b"").decode() for name in ("tenant", "count", "bytes", "encoding")}
    uids = [match.group(1).decode() if (match := UID.search(row)) else "" for row in rows(value, header["encoding"], header["count"])]
    numbers = (int(header["tenant"] or 0), int(header["count"] or -1), int(header["bytes"] or 0))
    return LogRecord(partition, record.offset, record.timestamp, *numbers, uids, header["encoding"] == "tick")


def rows(value: bytes, encoding: str, count: str) -> list[bytes]:
    """What identifies each row of a value: its message, or its line. None where the value is not the columns that its headers say."""
    if encoding != "columns":
        return [line for line in value.split(b"\n") if line.strip()]
    try:
        return [] if value == b"" else [message.encode() for message in columns.read(value, int(count))["_msg"]]
    except ValueError:
        return []
