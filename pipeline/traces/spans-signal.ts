import type { Signal } from '../bus/records/signal.ts';
import { tenantRowsSignal } from '../rows/rows-signal.ts';
import { spanLayout } from './span.ts';

/** Spans: records of rows of one tenant each on `spans.v1`. A span is kept by the time at which it begins. */
export const spansSignal: Signal = tenantRowsSignal(spanLayout, ({ time }, row) => Number(time(row) / 1_000_000_000n));
