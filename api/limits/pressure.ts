import { backpressure, walFull } from '../../pipeline/core/errors.ts';
import type { IngestLimit } from './ingest-limit.ts';
import type { SharedCounts } from './shared-counts.ts';

/** The event loop's lag above which nothing more is taken of those who use it most, milliseconds. */
const MAX_LAG_MS = 250;

export type PressureOptions = {
  readonly counts: SharedCounts;
  /** What is counted, as a plural: `entries`. */
  readonly unit: string;
  /** The event loop's lag, milliseconds. */
  readonly lagMs: () => number;
  /** Whether a tenant's bodies take as much of the event loop as others' do, or more. */
  readonly isHeavy: (tenantId: number) => boolean;
};

/** Refuses while the log must not take more; and while this process is too busy to answer in time, those who make it so. */
export function pressure({ counts, unit, lagMs, isHeavy }: PressureOptions): IngestLimit {
  return {
    name: 'pressure',
    admit({ tenantId }) {
      const reason = counts.logFull();
      if (reason !== null) throw walFull(reason);
      if (lagMs() > MAX_LAG_MS && isHeavy(tenantId)) throw backpressure(`This node is too busy to take more ${unit} right now.`);
    },
  };
}
