import { dayOf } from '../../pipeline/core/day-counts.ts';
import type { CompactedRecord } from '../../pipeline/core/compacted-log.ts';

/** What was taken of one signal by one key. */
export type Taken = { readonly keyId: string; readonly signal: string; bytes: number; rows: number; requests: number };
/** What was refused for one reason: whole requests, and entries of requests that were taken (status 200). */
export type Refused = {
  readonly signal: string;
  readonly status: number;
  /** The slug of the error, or the class of the reason. */
  readonly error: string;
  requests: number;
  entries: number;
  /** When it was refused last, milliseconds since 1970, and the sentence then. */
  at: number;
  reason: string;
};
/** What one process has counted of a tenant on a day, or all of them together. */
export type Tally = { readonly taken: Taken[]; readonly refused: Refused[] };
type News = Omit<CompactedRecord, 'offset'>;

/** Rows of a tally: keys by signals, and reasons. What is more is counted under no name. */
export const MAX_TALLIED_KEYS = 2000;
export const MAX_TALLIED_REASONS = 60;
/** Tallies of one publication; the others are in the next ones. */
const MOST_AT_ONCE = 1000;
/** Characters of a sentence. */
const MAX_REASON = 300;
/** Today, and the days before it that are kept. */
const DAYS_KEPT = 3;
const VERSION = 2;
const PREFIX = 'tally:';

/**
 * What keys sent and what was refused, by tenant and UTC day: records `tally:<node>:<tenant>:<day>` of `usage.v1`, each with all that its process
 * has counted, so that the sum over processes is right however often one is read. A kill loses what was not published. What is billed is counted
 * on the log (docs/adr/0006-usage.md); this says whose it is.
 */
export class Tallies {
  readonly #node: string;
  readonly #clock: () => number;
  /** By day, tenant and process; the own ones too. */
  readonly #days = new Map<number, Map<number, Map<string, Tally>>>();
  /** The own tallies that have changed since they were published, `<tenant>:<day>`. */
  readonly #changed = new Set<string>();

  /** `clock`: milliseconds since the epoch. */
  constructor(node: string, clock: () => number = Date.now) {
    this.#node = node;
    this.#clock = clock;
  }

  /** Counts a request that was taken. */
  take(tenantId: number, keyId: string, signal: string, { bytes, rows }: { readonly bytes: number; readonly rows: number }): void {
    const { taken } = this.#own(tenantId);
    const isOf = (one: Taken, id: string): boolean => one.keyId === id && one.signal === signal;
    let row = taken.find((one) => isOf(one, keyId));
    if (row === undefined && taken.length >= MAX_TALLIED_KEYS) row = taken.find((one) => isOf(one, ''));
    if (row === undefined) {
      row = { keyId: taken.length < MAX_TALLIED_KEYS ? keyId : '', signal, bytes: 0, rows: 0, requests: 0 };
      taken.push(row);
    }
    row.bytes += bytes;
    row.rows += rows;
    row.requests += 1;
  }

  /** Counts what was refused: a request, or so many entries of one that was taken. */
  refuse(
    tenantId: number,
    { signal, status, error }: Pick<Refused, 'signal' | 'status' | 'error'>,
    { reason, entries = 0 }: { readonly reason: string; readonly entries?: number },
  ): void {
    const { refused } = this.#own(tenantId);
    const isOf = (one: Refused, name: string): boolean => one.signal === signal && one.status === status && one.error === name;
    let row = refused.find((one) => isOf(one, error));
    if (row === undefined && refused.length >= MAX_TALLIED_REASONS) row = refused.find((one) => isOf(one, ''));
    if (row === undefined) {
      row = { signal, status, error: refused.length < MAX_TALLIED_REASONS ? error : '', requests: 0, entries: 0, at: 0, reason: '' };
      refused.push(row);
    }
    if (entries === 0) row.requests += 1;
    row.entries += entries;
    row.at = this.#clock();
    // a copy: a part of a string keeps the whole one
    row.reason = Buffer.from(reason.slice(0, MAX_REASON)).toString();
  }

  /** Takes a record of the topic; false for one of another kind. */
  fold({ key, value }: Pick<CompactedRecord, 'key' | 'value'>): boolean {
    if (!key.startsWith(PREFIX)) return false;
    const [, node = '', tenant, day] = KEY.exec(key) ?? [];
    const tally = tenant === undefined ? null : parse(value);
    if (tally !== null && node !== this.#node && this.#isKept(Number(day))) this.#nodesOf(Number(tenant), Number(day)).set(node, tally);
    return true;
  }

  /** What all processes have counted of a tenant on a day (days since the epoch): keys with most bytes first, the latest reasons first. */
  of(tenantId: number, day: number): Tally {
    const taken = new Map<string, Taken>();
    const refused = new Map<string, Refused>();
    for (const tally of this.#days.get(day)?.get(tenantId)?.values() ?? []) {
      for (const row of tally.taken) addTaken(taken, row);
      for (const row of tally.refused) addRefused(refused, row);
    }
    return {
      taken: [...taken.values()].sort((a, b) => b.bytes - a.bytes),
      refused: [...refused.values()].sort((a, b) => b.at - a.at),
    };
  }

  /** What has changed and is to be published; days that are over are forgotten. */
  takeNews(): News[] {
    for (const day of this.#days.keys()) if (!this.#isKept(day)) this.#days.delete(day);
    const news: News[] = [];
    for (const id of this.#changed) {
      if (news.length >= MOST_AT_ONCE) break;
      this.#changed.delete(id);
      const [tenant = 0, day = 0] = id.split(':').map(Number);
      const tally = this.#days.get(day)?.get(tenant)?.get(this.#node);
      if (tally !== undefined) news.push({ key: `${PREFIX}${this.#node}:${id}`, value: encode(tally) });
    }
    return news;
  }

  /** These could not be published: they are in the next news. */
  returned(news: readonly News[]): void {
    for (const { key } of news) this.#changed.add(key.slice(PREFIX.length + this.#node.length + 1));
  }

  /** The own tally of today, which is about to change. */
  #own(tenantId: number): Tally {
    const day = dayOf(this.#clock());
    const nodes = this.#nodesOf(tenantId, day);
    const tally = nodes.get(this.#node) ?? { taken: [], refused: [] };
    nodes.set(this.#node, tally);
    this.#changed.add(`${String(tenantId)}:${String(day)}`);
    return tally;
  }

  #isKept(day: number): boolean {
    const today = dayOf(this.#clock());
    return day > today - DAYS_KEPT && day <= today + 1;
  }

  #nodesOf(tenantId: number, day: number): Map<string, Tally> {
    const tenants = this.#days.get(day) ?? new Map<number, Map<string, Tally>>();
    this.#days.set(day, tenants);
    const nodes = tenants.get(tenantId) ?? new Map<string, Tally>();
    tenants.set(tenantId, nodes);
    return nodes;
  }
}

const KEY = /^tally:([\w-]{1,64}):(\d{1,10}):(\d{1,7})$/;

function addTaken(all: Map<string, Taken>, row: Taken): void {
  const id = `${row.keyId}/${row.signal}`;
  const known = all.get(id);
  if (known === undefined) all.set(id, { ...row });
  else {
    known.bytes += row.bytes;
    known.rows += row.rows;
    known.requests += row.requests;
  }
}

function addRefused(all: Map<string, Refused>, row: Refused): void {
  const id = `${row.signal}/${String(row.status)}/${row.error}`;
  const known = all.get(id);
  if (known === undefined) {
    all.set(id, { ...row });
    return;
  }
  known.requests += row.requests;
  known.entries += row.entries;
  if (row.at > known.at) [known.at, known.reason] = [row.at, row.reason];
}

const encode = ({ taken, refused }: Tally): string =>
  JSON.stringify({
    v: VERSION,
    taken: taken.map(({ keyId, signal, bytes, rows, requests }) => [keyId, signal, bytes, rows, requests]),
    refused: refused.map(({ signal, status, error, requests, entries, at, reason }) => [
      signal,
      status,
      error,
      requests,
      entries,
      at,
      reason,
    ]),
  });

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';

/** A tally of this version; null for any other. */
function parse(value: string | null): Tally | null {
  let json: unknown;
  try {
    json = JSON.parse(value ?? '');
  } catch {
    return null;
  }
  if (typeof json !== 'object' || json === null) return null;
  const { v, taken, refused } = json as { readonly v?: unknown; readonly taken?: unknown; readonly refused?: unknown };
  if (v !== VERSION || !Array.isArray(taken) || !Array.isArray(refused)) return null;
  const read = { taken: (taken as unknown[]).map(takenOf), refused: (refused as unknown[]).map(refusedOf) };
  return read.taken.includes(null) || read.refused.includes(null) ? null : (read as Tally);
}

function takenOf(json: unknown): Taken | null {
  const [keyId, signal, bytes, rows, requests] = Array.isArray(json) ? (json as unknown[]) : [];
  return isText(keyId) && isText(signal) && isCount(bytes) && isCount(rows) && isCount(requests)
    ? { keyId, signal, bytes, rows, requests }
    : null;
}

function refusedOf(json: unknown): Refused | null {
  const [signal, status, error, requests, entries, at, reason] = Array.isArray(json) ? (json as unknown[]) : [];
  return isText(signal) && isCount(status) && isText(error) && isCount(requests) && isCount(entries) && isCount(at) && isText(reason)
    ? { signal, status, error, requests, entries, at, reason }
    : null;
}
