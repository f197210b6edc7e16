import { AUDIT_FAULTS, type AuditCounts, type AuditedHour, type AuditFinding } from '../../pipeline/core/audit-report.ts';
import type { Verdict } from './compare.ts';

const HOUR_MS = 3_600_000;
/** Ranges of offsets that are kept of a finding. */
const MAX_RANGES = 1000;

type FaultKind = (typeof AUDIT_FAULTS)[number];
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type Hour = {
  readonly counts: Mutable<AuditCounts>;
  readonly faults: Map<FaultKind, { records: number; ranges: [number, number][] }>;
};

const noCounts = (): Mutable<AuditCounts> => ({ records: 0, entries: 0, lost: 0, doubled: 0, stray: 0, aged_out: 0, dead_lettered: 0 });

/** Adds up verdicts by partition and hour of the append time. */
export class Tally {
  readonly #hours = new Map<string, Hour & { readonly partition: number; readonly at: number }>();

  /** Counts a record (of `entries` entries; 0 where Kafka has none); its offset is not below those added before. */
  add(
    partition: number,
    record: { readonly offset: number; readonly timestamp: number; readonly entries: number },
    verdict: Verdict | null,
  ): void {
    const hour = this.#hourOf(partition, record.timestamp);
    const { counts } = hour;
    counts.records += 1;
    counts.entries += record.entries;
    if (verdict === null) return;
    counts.aged_out += verdict.agedOut;
    counts.dead_lettered += verdict.deadLettered;
    for (const kind of AUDIT_FAULTS) if (verdict[kind] > 0) this.addFault(partition, record, kind, verdict[kind]);
  }

  /** Counts `entries` entries of a record that was added already. */
  addFault(
    partition: number,
    { offset, timestamp }: { readonly offset: number; readonly timestamp: number },
    kind: FaultKind,
    entries: number,
  ): void {
    const { counts, faults } = this.#hourOf(partition, timestamp);
    counts[kind] += entries;
    const fault = faults.get(kind) ?? { records: 0, ranges: [] };
    faults.set(kind, fault);
    fault.records += 1;
    const last = fault.ranges.at(-1);
    if (last !== undefined && last[1] + 1 === offset) last[1] = offset;
    else if (fault.ranges.length < MAX_RANGES) fault.ranges.push([offset, offset]);
  }

  #hourOf(partition: number, timestamp: number): Hour {
    const at = Math.floor(timestamp / HOUR_MS) * HOUR_MS;
    const key = `${String(partition)}/${String(at)}`;
    let hour = this.#hours.get(key);
    if (hour === undefined) {
      hour = { partition, at, counts: noCounts(), faults: new Map() };
      this.#hours.set(key, hour);
    }
    return hour;
  }

  /** By partition, then by time. */
  #sorted(): readonly (Hour & { readonly partition: number; readonly at: number })[] {
    return [...this.#hours.values()].sort((a, b) => a.partition - b.partition || a.at - b.at);
  }

  hours(): AuditedHour[] {
    return this.#sorted().map(({ partition, at, counts }) => ({ partition, hour: hourText(at), ...counts }));
  }

  findings(): AuditFinding[] {
    return this.#sorted().flatMap(({ partition, at, counts, faults }) =>
      [...faults].map(([kind, { records, ranges }]) => ({
        kind,
        partition,
        hour: hourText(at),
        entries: counts[kind],
        records,
        offsets: ranges.map(([first, last]) => (first === last ? String(first) : `${String(first)}-${String(last)}`)),
      })),
    );
  }

  total(): AuditCounts {
    const sum = noCounts();
    for (const { counts } of this.#hours.values()) for (const name of Object.keys(sum) as (keyof AuditCounts)[]) sum[name] += counts[name];
    return sum;
  }
}

/** The beginning of the hour, UTC. */
export const hourText = (at: number): string => `${new Date(at).toISOString().slice(0, 13)}:00Z`;
