import { countsFromJson, countsToJson, isCount, pairsFromJson, type DayCounts } from '../../core/day-counts.ts';

/** The billable bytes of a partition of a topic up to (not including) the offset `next`, of the last three days with records. */
export type UsageSnapshot = { readonly next: number; readonly days: DayCounts };

/**
 * What has changed in a partition between the offsets `since` and `next`: the bytes, as they are at `next`, of those that have more. So it
 * applies for a reader that knows the partition at any offset between the two.
 */
export type UsageDelta = UsageSnapshot & { readonly since: number };

/** A partition of a topic that tenants' records are appended to. */
export type UsagePlace = { readonly topic: string; readonly partition: number };

/** Bytes that were acknowledged on a partition in records up to and including the offset `last`. */
export type UsageSegment = UsagePlace & { readonly last: number; readonly days: DayCounts };

/** What an API process publishes to the others. */
export type NodeUsage = {
  /** Grows by one with each set of charges; the same number again means the same ones. */
  readonly seq: number;
  /** What was charged since the set before, by topic and tenant, in the unit of the topic's signal: entries, spans. */
  readonly charged: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Calls that it has let through since the set before, by what their rate is of (a key's queries, a tenant's changes). */
  readonly calls: ReadonlyMap<string, number>;
  /** Bytes that it had acknowledged and that were in no snapshot yet, one segment for each partition. */
  readonly unreflected: readonly UsageSegment[];
};

/** Why ingest is paused: of every signal (`full`), and of those on a topic alone; null and none while it is not. */
export type GuardReport = { readonly full: string | null; readonly topics: Readonly<Record<string, string>> };

/** A record of the topic `usage.v1`; docs/topics.md is the specification. */
export type UsageRecord =
  | (UsagePlace & { readonly kind: 'partition'; readonly snapshot: UsageSnapshot })
  | (UsagePlace & { readonly kind: 'delta'; readonly delta: UsageDelta })
  | { readonly kind: 'node'; readonly id: string; readonly usage: NodeUsage }
  | ({ readonly kind: 'guard'; readonly id: string } & GuardReport);

/** The version of these records. Those without one are of the releases before, which knew one topic. */
const VERSION = 2;
const TOPIC_OF_VERSION_1 = 'logs.v1';

export const partitionKey = ({ topic, partition }: UsagePlace): string => `partition:${topic}:${String(partition)}`;
/** Deltas of a partition take turns in this number of keys, so that old ones are deleted; each half of them has a whole snapshot. */
export const DELTA_KEYS = 128;
export const deltaKey = ({ topic, partition }: UsagePlace, turn: number): string =>
  `delta:${topic}:${String(partition)}:${String(turn % DELTA_KEYS)}`;
export const nodeKey = (id: string): string => `node:${id}`;
export const guardKey = (id: string): string => `guard:${id}`;

export const encodeSnapshot = ({ next, days }: UsageSnapshot): string => JSON.stringify({ v: VERSION, next, days: countsToJson(days) });

export const encodeDelta = ({ since, next, days }: UsageDelta): string =>
  JSON.stringify({ v: VERSION, since, next, days: countsToJson(days) });

export const encodeNode = ({ seq, charged, calls, unreflected }: NodeUsage): string =>
  JSON.stringify({
    v: VERSION,
    seq,
    charged: Object.fromEntries([...charged].map(([topic, tenants]) => [topic, [...tenants]])),
    ...(calls.size > 0 ? { calls: [...calls] } : {}),
    unreflected: unreflected.map(({ topic, partition, last, days }) => ({ topic, partition, last, days: countsToJson(days) })),
  });

/** `at` is for people. */
export const encodeGuard = ({ full, topics }: GuardReport, at: Date): string =>
  JSON.stringify({ v: VERSION, full, topics, at: at.toISOString() });

/** Reads a record of the topic; null for a foreign or inconsistent one, and for one of a later version. */
export function parseUsageRecord(key: string, value: string | null): UsageRecord | null {
  if (value === null) return null;
  const json = parseObject(value);
  const colon = key.indexOf(':');
  const [kind, id] = [key.slice(0, Math.max(0, colon)), key.slice(colon + 1)];
  if (json === null || !isReadable(json['v'])) return null;
  if (kind === 'partition' || kind === 'delta') {
    const place = readPlace(kind, id);
    const snapshot = readSnapshot(json);
    if (snapshot === null || place === null) return null;
    if (kind === 'partition') return { kind, ...place, snapshot };
    return isCount(json['since']) ? { kind, ...place, delta: { ...snapshot, since: json['since'] } } : null;
  }
  if (kind === 'node') {
    const usage = readNode(json);
    return usage === null ? null : { kind, id, usage };
  }
  const report = kind === 'guard' ? readGuard(json) : null;
  return report === null ? null : { kind: 'guard', id, ...report };
}

function readGuard({ full, topics = {} }: Fields): GuardReport | null {
  const isReport = (full === null || typeof full === 'string') && typeof topics === 'object' && topics !== null;
  if (!isReport || !Object.values(topics).every((reason) => typeof reason === 'string')) return null;
  return { full, topics: topics as Record<string, string> };
}

const isReadable = (version: unknown): boolean => version === undefined || version === VERSION;

/** The state that the usage processor has written, of whatever version: a snapshot without its place. */
export const parseSnapshot = (value: string): UsageSnapshot | null => {
  const json = parseObject(value);
  return json === null || !isReadable(json['v']) ? null : readSnapshot(json);
};

/** `<topic>:<n>`, and of a delta `<topic>:<n>:<k>`; without a topic in the first version. */
function readPlace(kind: 'partition' | 'delta', id: string): UsagePlace | null {
  const [, topic = TOPIC_OF_VERSION_1, partition] = (kind === 'partition' ? PARTITION_ID : DELTA_ID).exec(id) ?? [];
  return partition === undefined ? null : { topic, partition: Number(partition) };
}

/** Topic names as Kafka has them; one of digits alone would be taken for a partition. */
const PARTITION_ID = /^(?:([\w.-]{1,249}):)?(\d{1,9})$/;
const DELTA_ID = /^(?:([\w.-]*[A-Za-z_.-][\w.-]*):)?(\d{1,9}):\d{1,9}$/;

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

function readNode({ seq, charged, entries, calls = [], unreflected }: Fields): NodeUsage | null {
  // the first version has the entries of its one topic
  const all = charged === undefined ? { [TOPIC_OF_VERSION_1]: entries } : charged;
  if (!isCount(seq) || typeof all !== 'object' || all === null || !Array.isArray(unreflected)) return null;
  const read = new Map<string, ReadonlyMap<number, number>>();
  for (const [topic, pairs] of Object.entries(all)) {
    const tenants = pairsFromJson(pairs);
    if (tenants === null) return null;
    read.set(topic, tenants);
  }
  const segments: UsageSegment[] = [];
  for (const item of unreflected as unknown[]) {
    const { topic = TOPIC_OF_VERSION_1, partition, last, days } = (item ?? {}) as Fields;
    const counts = countsFromJson(days);
    if (typeof topic !== 'string' || !isCount(partition) || !isCount(last) || counts === null) return null;
    segments.push({ topic, partition, last, days: counts });
  }
  const called = readCalls(calls);
  return called === null ? null : { seq, charged: read, calls: called, unreflected: segments };
}

function readCalls(pairs: unknown): ReadonlyMap<string, number> | null {
  if (!Array.isArray(pairs)) return null;
  const calls = new Map<string, number>();
  for (const pair of pairs as unknown[]) {
    const [key, count] = Array.isArray(pair) ? (pair as unknown[]) : [];
    if (typeof key !== 'string' || !isCount(count)) return null;
    calls.set(key, count);
  }
  return calls;
}
