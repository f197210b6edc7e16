import { LRUCache } from 'lru-cache';
import { MAX_REJECTIONS } from '../../pipeline/intake/rejections.ts';

/**
 * What was refused, as its owner is shown it. `time`: ISO 8601. `index`: the place of an entry in its request; null where the whole request was
 * refused, whose body then is the sample. `status`: of the answer; 200 where the others of the request were taken.
 */
export type RejectedEntry = {
  readonly time: string;
  readonly format: string;
  readonly reason: string;
  readonly sample: string;
  readonly index: number | null;
  readonly request_id: string;
  readonly status: number;
  readonly path: string;
  /** The User-Agent of the shipper. */
  readonly client: string;
  /** How often the same was refused in a row; left out for once. */
  readonly count?: number;
};

const MAX_TENANTS = 500;
/** Of all tenants together, about. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_REASON_LENGTH = 300;
const MAX_TEXT_LENGTH = 120;
/** What is refused again and again is looked for among so many of the last. */
const LOOKED_AT = 5;
/** Of a rejection beside its strings, about. Bytes. */
const OWN_BYTES = 200;

/** The last rejections of the tenants that sent to this process lately. */
export class RejectionLog {
  readonly #tenants = new LRUCache<number, RejectedEntry[]>({ max: MAX_TENANTS, maxSize: MAX_BYTES, sizeCalculation: sizeOf });
  /** Counts changes. */
  #version = 0;

  /** Keeps rejections of one request, in their order; the first 100 of them. A whole request that is refused as one before counts with that. */
  add(tenantId: number, rejections: readonly RejectedEntry[]): void {
    if (rejections.length === 0) return;
    this.#version += 1;
    const kept = [...(this.#tenants.get(tenantId) ?? [])];
    for (const rejection of rejections.slice(0, MAX_REJECTIONS)) keep(kept, bounded(rejection));
    if (kept.length > MAX_REJECTIONS) kept.splice(0, kept.length - MAX_REJECTIONS);
    this.#tenants.set(tenantId, kept);
  }

  /** What is kept of a tenant, the newest first. */
  of(tenantId: number): RejectedEntry[] {
    return [...(this.#tenants.get(tenantId) ?? [])].reverse();
  }

  /** Changes with each rejection. */
  get version(): number {
    return this.#version;
  }

  /** All that is kept, the tenant first that was longest without a rejection. */
  get all(): (readonly [tenantId: number, rejections: readonly RejectedEntry[]])[] {
    return [...this.#tenants.entries()].reverse();
  }
}

function keep(kept: RejectedEntry[], one: RejectedEntry): void {
  const at = one.index === null ? kept.findLastIndex((other, index) => index >= kept.length - LOOKED_AT && isSame(other, one)) : -1;
  if (at < 0) kept.push(one);
  else {
    const [before] = kept.splice(at, 1);
    kept.push({ ...one, count: (before?.count ?? 1) + (one.count ?? 1) });
  }
}

const isSame = (a: RejectedEntry, b: RejectedEntry): boolean =>
  a.index === null && a.status === b.status && a.reason === b.reason && a.path === b.path && a.client === b.client;

/** With copies of its strings: a substring would keep the whole string in memory. */
function bounded(rejection: RejectedEntry): RejectedEntry {
  const { reason, path, client } = rejection;
  return { ...rejection, reason: cut(reason, MAX_REASON_LENGTH), path: cut(path, MAX_TEXT_LENGTH), client: cut(client, MAX_TEXT_LENGTH) };
}

const cut = (text: string, most: number): string => Buffer.from(text.length > most ? `${text.slice(0, most)}…` : text).toString();

const sizeOf = (kept: readonly RejectedEntry[]): number =>
  kept.reduce(
    (sum, { reason, sample, path, client }) => sum + OWN_BYTES + 2 * (reason.length + sample.length + path.length + client.length),
    1,
  );
