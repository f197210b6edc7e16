import { replayLayout } from '../pipeline/replay/chunk.ts';
import { replaySignal } from '../pipeline/replay/replay-signal.ts';
import { tenantRowsSink } from './rows-sink.ts';
import type { Sink } from './sink.ts';

/** Rows are long: a record may have 8 MB. */
const HELD_BYTES = 32_000_000;

/** Session replay into `replay_chunks`. */
export const replayChunksSink: Sink = { ...tenantRowsSink('replay_chunks', replaySignal, replayLayout), heldBytes: HELD_BYTES };
