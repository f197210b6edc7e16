import type { Principal } from '../http/route.ts';

/**
 * A limit on the way of an ingest request. All `admit` run in their order before the body is read (plan gate, quota, trial), all
 * `charge` after it was read and before it is published (the tenant's bucket, then the platform's). Each throws HttpError to refuse;
 * what was charged before is then given back.
 */
export interface IngestLimit {
  readonly name: string;
  admit(principal: Principal): void;
  charge(principal: Principal, entries: number, bytes: number): void;
  refund(principal: Principal, entries: number, bytes: number): void;
}

/** Asks every limit whether a request of this principal may come at all. */
export function admitAll(limits: readonly IngestLimit[], principal: Principal): void {
  for (const limit of limits) limit.admit(principal);
}

/** Charges every limit, all or none. */
export function chargeAll(limits: readonly IngestLimit[], principal: Principal, entries: number, bytes: number): void {
  for (const [index, limit] of limits.entries()) {
    try {
      limit.charge(principal, entries, bytes);
    } catch (error) {
      refundAll(limits.slice(0, index), principal, entries, bytes);
      throw error;
    }
  }
}

/** Gives back what was charged. */
export function refundAll(limits: readonly IngestLimit[], principal: Principal, entries: number, bytes: number): void {
  for (const limit of limits) limit.refund(principal, entries, bytes);
}
