import { countsFromJson, countsToJson, isCount, pairsFromJson, type DayCounts } from '../../core/day-counts.ts';

/** The billable bytes of a partition of `logs.v1` up to (not including) the offset `next`, of the last three days with records. */
export type UsageSnapshot = { readonly next: number; readonly days: DayCounts };

/**
 * What has changed in a partition between the offsets `since` and `next`: the bytes, as they are at `next`, of those that have more. So it
 * applies for a reader that knows the partition at any offset between the two.
 */
export type UsageDelta = UsageSnapshot & { readonly since: number };

/** Bytes that were acknowledged on a partition in records up to and including the offset `last`. */
export type UsageSegment = { readonly partition: number; readonly last: number; readonly days: DayCounts };

/** What an API process publishes to the others. */
export type NodeUsage = {
  /** Grows by one with each set of entries; the same number again means the same entries. */
  readonly seq: number;
  /** Entries charged since the set before, by tenant. */
  readonly entries: ReadonlyMap<number, number>;
  /** Bytes that it had acknowledged and that were in no snapshot yet, one segment for each partition. */
  readonly unreflected: readonly UsageSegment[];
};

/** A record of the topic `usage.v1`; docs/topics.md is the specification. */
export type UsageRecord =
  | { readonly kind: 'partition'; readonly partition: number; readonly snapshot: UsageSnapshot }
  | { readonly kind: 'delta'; readonly partition: number; readonly delta: UsageDelta }
  | { readonly kind: 'node'; readonly id: string; readonly usage: NodeUsage }
  | { readonly kind: 'guard'; readonly id: string; readonly full: string | null };

export const partitionKey = (partition: number | ''): string => `partition:${String(partition)}`;
/** Deltas of a partition take turns in this number of keys, so that old ones are deleted; each half of them has a whole snapshot. */
export const DELTA_KEYS = 128;
export const deltaKey = (partition: number, turn: number): string => `delta:${String(partition)}:${String(turn % DELTA_KEYS)}`;
export const nodeKey = (id: string): string => `node:${id}`;
export const guardKey = (id: string): string => `guard:${id}`;

export const encodeSnapshot = ({ next, days }: UsageSnapshot): string => JSON.stringify({ next, days: countsToJson(days) });

export const encodeDelta = ({ since, next, days }: UsageDelta): string => JSON.stringify({ since, next, days: countsToJson(days) });

export const encodeNode = ({ seq, entries, unreflected }: NodeUsage): string =>
  JSON.stringify({
    seq,
    entries: [...entries],
    unreflected: unreflected.map(({ partition, last, days }) => ({ partition, last, days: countsToJson(days) })),
  });

/** `full`: why ingest is paused; null while it is not. `at` is for people. */
export const encodeGuard = (full: string | null, at: Date): string => JSON.stringify({ full, at: at.toISOString() });

/** Reads a record of the topic; null for a foreign or inconsistent one. */
export function parseUsageRecord(key: string, value: string | null): UsageRecord | null {
  if (value === null) return null;
  const json = parseObject(value);
  const colon = key.indexOf(':');
  const [kind, id] = [key.slice(0, Math.max(0, colon)), key.slice(colon + 1)];
  if (json === null) return null;
  if (kind === 'partition') {
    const snapshot = readSnapshot(json);
    return snapshot === null || !/^\d{1,9}$/.test(id) ? null : { kind, partition: Number(id), snapshot };
  }
  if (kind === 'delta') {
    const snapshot = readSnapshot(json);
    const [, partition] = /^(\d{1,9}):\d{1,9}$/.exec(id) ?? [];
    if (snapshot === null || partition === undefined || !isCount(json['since'])) return null;
    return { kind, partition: Number(partition), delta: { ...snapshot, since: json['since'] } };
  }
  if (kind === 'node') {
    const usage = readNode(json);
    return usage === null ? null : { kind, id, usage };
  }
  const { full } = json;
  return kind === 'guard' && (full === null || typeof full === 'string') ? { kind, id, full } : null;
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields | null {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? (json as Fields) : null;
  } catch {
    return null;
  }
}

function readSnapshot({ next, days }: Fields): UsageSnapshot | null {
  const counts = countsFromJson(days);
  return !isCount(next) || counts === null ? null : { next, days: counts };
}

function readNode({ seq, entries, unreflected }: Fields): NodeUsage | null {
  const charged = pairsFromJson(entries);
  if (!isCount(seq) || charged === null || !Array.isArray(unreflected)) return null;
  const segments: UsageSegment[] = [];
  for (const item of unreflected as unknown[]) {
    const { partition, last, days } = (item ?? {}) as Fields;
    const counts = countsFromJson(days);
    if (!isCount(partition) || !isCount(last) || counts === null) return null;
    segments.push({ partition, last, days: counts });
  }
  return { seq, entries: charged, unreflected: segments };
}
