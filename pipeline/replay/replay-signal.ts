import type { Signal } from '../bus/records/signal.ts';
import { tenantRowsSignal } from '../rows/rows-signal.ts';
import { replayLayout } from './chunk.ts';

/** Session replay: records of rows of one tenant each on `replay.v1`. A row is kept by the time of its first event. */
export const replaySignal: Signal = tenantRowsSignal(replayLayout, ({ first }, row) => Math.floor(first(row) / 1000));
