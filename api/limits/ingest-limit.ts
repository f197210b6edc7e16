import type { Principal } from '../tenants/principal.ts';

/** Gives back exactly what one request was charged. Called at most once. */
export type Refund = () => void;

/**
 * A limit on the way of an ingest request. All `admit` run in their order before the body is read (plan gate, quota, trial, pressure),
 * all `charge` after it was read and before it is published (the tenant's bucket, then the platform's). Each throws HttpError to
 * refuse; what was charged before is then given back.
 */
export interface IngestLimit {
  readonly name: string;
  admit?(principal: Principal): void;
  /** `entries` are the accepted ones, `bytes` those of the decompressed body. */
  charge?(principal: Principal, entries: number, bytes: number): Refund;
}

/** Checks with every limit whether to admit a request of this principal at all. */
export function admitAll(limits: readonly IngestLimit[], principal: Principal): void {
  for (const limit of limits) limit.admit?.(principal);
}

/** Charges every limit, all or none. */
export function chargeAll(limits: readonly IngestLimit[], principal: Principal, entries: number, bytes: number): Refund {
  const refunds: Refund[] = [];
  const refundAll = (): void => {
    for (const refund of refunds) refund();
  };
  for (const limit of limits) {
    try {
      const refund = limit.charge?.(principal, entries, bytes);
      if (refund !== undefined) refunds.push(refund);
    } catch (error) {
      refundAll();
      throw error;
    }
  }
  return refundAll;
}
