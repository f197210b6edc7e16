"""Counts again, from the ledger, the log and the table, what must hold after a run, and prints what does not. Shares no code with the product.

    python3 recount.py CONFIG.json

CONFIG: {"ledger", "kafka": {"host", "port"}, "clickhouse": {"url", "user", "password", "database"}, "apis": [{"adminUrl", "appUrl"}, ...],
"adminToken", "key", "settleSeconds"}. Prints one JSON object: {"figures", "violations": [{"check", "count", "examples"}, ...]}; no violations: all holds."""

import json
import sys
from collections import Counter
from typing import Iterable, Iterator, NamedTuple

from world import DAY_MS, LogRecord, World, is_done

EXAMPLES = 20


class Violation(NamedTuple):
    check: str
    found: list  # of examples


Found = tuple[dict, list[Violation]]


def entries(world: World) -> Found:
    """Acknowledged: stored once. Refused: not stored. In doubt: at most once. Anything else is nobody's."""
    stored = Counter(dict((uid, int(count)) for uid, count in world.query("SELECT extract(_msg, 'uid=([0-9]+-[0-9]+\\\\.[0-9]+\\\\.[0-9]+)') AS uid, count() FROM logs GROUP BY uid")))
    logged = Counter(uid for record in world.records for uid in record.uids)
    counts: Counter = Counter()
    missing, unlogged, twice, logged_twice, refused_present, doubt_twice = [], [], [], [], [], []
    known = set()
    for name, request in world.requests.items():
        for index in range(request.entries):
            uid = f"{name}.{index}"
            known.add(uid)
            copies = stored[uid]
            kind = "rejected" if request.outcome == "rejected" or index in request.refused else request.outcome
            counts[kind] += 1
            if kind == "rejected":
                if copies > 0 or logged[uid] > 0:
                    refused_present.append(uid)
                continue
            if kind == "acked" and copies == 0:
                missing.append(uid)
            if kind == "acked" and logged[uid] == 0:
                unlogged.append(uid)
            if logged[uid] > 1:
                logged_twice.append(uid)
            if copies > 1:
                (twice if kind == "acked" else doubt_twice).append(uid)
    figures = {"acked": counts["acked"], "rejected": counts["rejected"], "unknown": counts["unknown"], "stored_rows": sum(stored.values())}
    return figures, [
        Violation("an acknowledged entry is not in the table", missing),
        Violation("an acknowledged entry is not on the log", unlogged),
        Violation("an acknowledged entry is in the table more than once", twice),
        Violation("an entry is on the log more than once", logged_twice),
        Violation("a refused entry is present", refused_present),
        Violation("an entry in doubt is in the table more than once", doubt_twice),
        Violation("an entry in the table is nobody's", [uid for uid in stored if uid not in known]),
        Violation("the log and the table do not have the same entries", [uid for uid in set(stored) | set(logged) if stored[uid] != logged[uid]]),
    ]


def positions(world: World) -> Found:
    """Each row of each record of the log that is committed is in the table under its position, once, and nothing else is."""
    rows = world.query("SELECT kafka_part, kafka_off, count(), uniqExact(kafka_idx), max(kafka_idx) FROM logs GROUP BY kafka_part, kafka_off")
    stored = {(int(part), int(off)): (int(count), int(distinct), int(last)) for part, off, count, distinct, last in rows}
    miscounted, absent, incomplete, doubled, gaps, uncommitted, filled = [], [], [], [], [], [], []
    expected_next: dict[int, int] = {}
    for record in world.records:
        at = (record.partition, record.offset)
        if record.offset != expected_next.get(record.partition, 0):
            gaps.append(at)
        expected_next[record.partition] = record.offset + 1
        if record.count != len(record.uids):
            miscounted.append(at)
        if record.is_tick and (record.tenant, record.count, record.bytes) != (0, 0, 0):
            filled.append(at)
        count, distinct, last = stored.pop(at, (0, 0, -1))
        if count == 0 and record.count > 0:
            absent.append(at)
        elif count != distinct:
            doubled.append((*at, count, distinct))
        elif count != record.count or last != record.count - 1:
            incomplete.append((*at, count, record.count))
    for partition, end in world.ends.items():
        offset, metadata = world.committed.get(partition, (-1, ""))
        if end > 0 and not is_done((offset, metadata), end):
            uncommitted.append({"partition": partition, "end": end, "committed": offset, "metadata": metadata})
    rows_stored = sum(int(count) for _, _, count, _, _ in rows)
    distinct_stored = sum(int(distinct) for _, _, _, distinct, _ in rows)
    figures = {"records": len(world.records), "rows": rows_stored, "positions": distinct_stored, "log_bytes": sum(record.bytes for record in world.records)}
    return figures, [
        Violation("a record's count is not that of its rows", miscounted),
        Violation("a tick has a tenant, rows or bytes", filled),
        Violation("the offsets of the log have a gap", gaps),
        Violation("a record is not in the table", absent),
        Violation("a record is in the table in part", incomplete),
        Violation("a position is in the table more than once", doubled),
        Violation("the table has rows of records that are not on the log", [*stored]),
        Violation("the sinks have not committed the whole log", uncommitted),
    ]


def usage(world: World) -> Found:
    """The volume of each tenant and day is the sum of the log's headers, in the processors' snapshots and at each API; between what was acknowledged and what was sent."""
    counted: dict[int, Counter] = {partition: Counter() for partition in world.partitions}
    for record in world.records:
        if record.bytes > 0:
            counted[record.partition][(record.timestamp // DAY_MS, record.tenant)] += record.bytes
    behind, different = [], []
    for partition, expected in counted.items():
        snapshot = world.usage.get(partition, {"next": 0, "days": []})
        if snapshot["next"] < world.ends[partition]:
            behind.append({"partition": partition, "next": snapshot["next"], "end": world.ends[partition]})
        said = {(day, tenant): size for day, tenants in snapshot["days"] for tenant, size in tenants if size > 0}
        if said != dict(expected):
            different.append({"partition": partition, "recount": sorted(expected.items()), "snapshot": sorted(said.items())})
    total: Counter = sum(counted.values(), Counter())
    at_apis = []
    for url in (api["adminUrl"] for api in world.config["apis"]):
        answer = world.get(f"{url}/admin/tenants/1/usage", world.config["adminToken"])
        said_bytes, pending = sum(day["bytes"] for day in answer), sum(day["pending_bytes"] for day in answer)
        expected_bytes = sum(size for (_day, tenant), size in total.items() if tenant == 1)
        if said_bytes != expected_bytes or pending != 0:
            at_apis.append({"api": url, "recount": expected_bytes, "api says": said_bytes, "pending": pending})
    acked = sum(request.bytes for request in world.requests.values() if request.outcome == "acked")
    doubt = sum(request.bytes for request in world.requests.values() if request.outcome == "unknown")
    all_bytes = sum(total.values())
    out_of_bounds = [] if acked <= all_bytes <= acked + doubt else [{"acked": acked, "in doubt": doubt, "counted": all_bytes}]
    return {"usage_bytes": all_bytes}, [
        Violation("the usage processor has not read the whole log", behind),
        Violation("a usage snapshot is not the recount", different),
        Violation("an API's usage is not the recount", at_apis),
        Violation("the volume is not between what was acknowledged and what was sent", out_of_bounds),
    ]


VOLUME_QUERY = """SELECT log_part, span, segment, until, tenant_id, sumIf(e, scope != 1), sumIf(e, scope = 1), max(scope) = 2
FROM (SELECT log_part, span, segment, until, tenant_id, scope, any(entries) AS e FROM volume WHERE tenant_id > 0
  GROUP BY log_part, span, segment, until, tenant_id, scope, time, stream_id, level, retention_days)
GROUP BY log_part, span, segment, until, tenant_id"""


def volume(world: World) -> Found:
    """The rows of each stored segment are the entries of its records, by tenant, and no record with entries lies between two segments of a span."""
    records: dict[int, list[LogRecord]] = {partition: [] for partition in world.partitions}
    for record in world.records:
        if record.count > 0:
            records[record.partition].append(record)
    segments: dict[tuple[int, int], dict[tuple[int, int], dict[int, tuple[int, int, bool]]]] = {}
    for part, span, segment, until, tenant, entries_all, by_stream, alone in world.query(VOLUME_QUERY):
        of_span = segments.setdefault((int(part), int(span)), {})
        of_span.setdefault((int(segment), int(until)), {})[int(tenant)] = (int(entries_all), int(by_stream), alone == "1")
    different, left_out, overlapping = [], [], []
    for (partition, span), of_span in segments.items():
        behind = 0
        for (segment, until), said in sorted(of_span.items()):
            if segment < behind:
                overlapping.append((partition, span, segment, until))
            left_out += [(partition, record.offset, span) for record in records[partition] if behind <= record.offset < segment]
            behind = until
            counted: Counter = Counter()
            for record in records[partition]:
                if segment <= record.offset < until:
                    counted[record.tenant] += record.count
            if {tenant: total for tenant, (total, _, _) in said.items()} != dict(counted):
                different.append((partition, span, segment, until))
            if any(total != by_stream for total, by_stream, alone in said.values() if not alone):
                different.append((partition, span, segment, until, "by stream"))
    return {"volume_segments": sum(len(of_span) for of_span in segments.values())}, [
        Violation("a segment of the volume is not the recount", different),
        Violation("records lie between two segments of the volume", left_out),
        Violation("segments of the volume overlap", overlapping),
    ]


PATTERN_QUERY = """SELECT log_part, span, segment, until, tenant_id, scope, intDiv(toUnixTimestamp(time), span), pattern, stream_id, severity, any(entries)
FROM pattern_counts
GROUP BY log_part, run, span, segment, until, part, tenant_id, scope, time, pattern, stream_id, severity, retention_days"""
ENTRY_QUERY = """SELECT kafka_part, kafka_off, tenant_id, intDiv(toUnixTimestamp(_time), 60), pattern, stream_id, severity, count()
FROM logs WHERE pattern != 0 GROUP BY kafka_part, kafka_off, tenant_id, intDiv(toUnixTimestamp(_time), 60), pattern, stream_id, severity"""
OF_STREAM, OF_ALL, CLOSED = "0", "1", "2"


def patterns(world: World) -> Found:
    """The rows of each stored segment are the entries of its records, by tenant, pattern, stream, severity and span; no record with entries lies between two of them."""
    records: dict[int, dict[int, list[tuple[str, int, tuple, int]]]] = {partition: {} for partition in world.partitions}
    for part, off, tenant, minute, pattern, stream, severity, count in world.query(ENTRY_QUERY):
        records[int(part)].setdefault(int(off), []).append((tenant, int(minute), (pattern, stream, severity), int(count)))
    segments: dict[tuple[int, int], dict[tuple[int, int], dict[str, dict[str, Counter]]]] = {}
    for part, span, segment, until, tenant, scope, at, *key, count in world.query(PATTERN_QUERY):
        of_span = segments.setdefault((int(part), int(span)), {})
        own = of_span.setdefault((int(segment), int(until)), {}).setdefault(tenant, {OF_STREAM: Counter(), OF_ALL: Counter(), CLOSED: Counter()})
        own[scope][(int(at), tuple(key))] += int(count)
    different, left_out, compared = [], [], 0
    for (partition, span), of_span in segments.items():
        behind = 0
        for (segment, until), said in sorted(of_span.items()):
            left_out += [(partition, offset, span) for offset in records[partition] if behind <= offset < segment]
            behind = max(behind, until)
            counted: dict[str, Counter] = {}
            for offset in range(segment, until):
                for tenant, minute, key, count in records[partition].get(offset, []):
                    counted.setdefault(tenant, Counter())[(minute * 60 // span, key)] += count
            different += [(partition, span, segment, until, tenant) for tenant in counted if tenant not in said]
            for tenant, own in said.items():
                if not own[CLOSED]:
                    continue  # some of its rows are still on their way
                compared += 1
                expected = counted.get(tenant, Counter())
                # of a tenant that had too many groups only the sum is known
                same = own[OF_STREAM] == expected if not own[OF_ALL] else sum((own[OF_STREAM] + own[OF_ALL]).values()) == sum(expected.values())
                if not same:
                    different.append((partition, span, segment, until, tenant))
    return {"pattern_segments": compared}, [
        Violation("a segment of the patterns is not the recount", different),
        Violation("records lie between two segments of the patterns", left_out),
    ]


def searches(world: World) -> Found:
    """What a client of the first tenant is told of the number of its entries is the number of rows."""
    rows = int(world.query("SELECT count() FROM logs WHERE tenant_id = 1")[0][0])
    different = []
    for api in world.config["apis"]:
        answer = world.get(f"{api['appUrl']}/api/v1/tenants/1/hits?query=*&start=-30d&end=now&step=1d", world.config["key"])
        hits = sum(int(bucket["hits"]) for bucket in answer["hits"])
        if hits != rows:
            different.append({"api": api["appUrl"], "rows": rows, "hits": hits})
    return {}, [Violation("an API does not count the rows of the table", different)]


# What is derived from the log is recounted here, each by one function.
RECOUNTS = [entries, positions, usage, volume, patterns, searches]


def recount(world: World) -> dict:
    figures: dict = {"settled_after_s": world.settled_after}
    violations: list[dict] = []
    for count in RECOUNTS:
        numbers, found = count(world)
        figures.update(numbers)
        violations += report(found)
    if world.settled_after is None:
        violations.append({"check": "the sinks and the usage processor have not caught up in time", "count": 1, "examples": []})
    return {"figures": figures, "violations": violations}


def report(found: Iterable[Violation]) -> Iterator[dict]:
    for check, examples in found:
        if examples:
            yield {"check": check, "count": len(examples), "examples": examples[:EXAMPLES]}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(json.dumps(recount(World(json.load(file)))))
