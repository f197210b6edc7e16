import { LRUCache } from 'lru-cache';
import { MAX_REJECTIONS } from '../../pipeline/logs/rejections.ts';

/**
 * An entry that was refused, as its owner is shown it. `time`: ISO 8601. `index`: its place in the request; null where the whole
 * request was refused (400), whose body then is the sample.
 */
export type RejectedEntry = {
  readonly time: string;
  readonly format: string;
  readonly reason: string;
  readonly sample: string;
  readonly index: number | null;
  readonly request_id: string;
};

const MAX_TENANTS = 500;
const MAX_REASON_LENGTH = 300;

/** The last rejections of the tenants that sent to this process lately, in memory. */
export class RejectionLog {
  readonly #tenants = new LRUCache<number, RejectedEntry[]>({ max: MAX_TENANTS });

  /** Keeps rejections of one request, in their order; the first 100 of them. */
  add(tenantId: number, rejections: readonly RejectedEntry[]): void {
    if (rejections.length === 0) return;
    const kept = this.#tenants.get(tenantId) ?? [];
    for (const rejection of rejections.slice(0, MAX_REJECTIONS)) kept.push({ ...rejection, reason: bounded(rejection.reason) });
    if (kept.length > MAX_REJECTIONS) kept.splice(0, kept.length - MAX_REJECTIONS);
    this.#tenants.set(tenantId, kept);
  }

  /** What is kept of a tenant, the newest first. */
  of(tenantId: number): RejectedEntry[] {
    return [...(this.#tenants.get(tenantId) ?? [])].reverse();
  }
}

/** A copy of its own: a substring would keep the whole string in memory. */
function bounded(reason: string): string {
  return Buffer.from(reason.length > MAX_REASON_LENGTH ? `${reason.slice(0, MAX_REASON_LENGTH)}…` : reason).toString();
}
