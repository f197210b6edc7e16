import path from 'node:path';
import type { Patch } from './patched-dist.ts';

/** What a process is made to do at a point: die, or stop until it is resumed. */
export type FaultSignal = 'SIGKILL' | 'SIGSTOP';

/** Points on the way of a range into the table, in their order (docs/adr/0003-exactly-once-sink.md). */
export const FAULT_POINTS = ['after-intent', 'mid-insert', 'after-insert', 'after-commit'] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];

/** Loaded into the processes: it knows how to strike. */
export const FAULT_PRELOAD = path.join(import.meta.dirname, 'fault-points.mjs');

/** Puts the points into a copy of the compiled program. */
export const FAULT_POINT_PATCHES: readonly Patch[] = [
  {
    file: 'pipeline/bus/range-steps.js',
    find: 'let repeated = again;',
    replace: "globalThis.faultPoint('after-intent'); let repeated = again;",
  },
  {
    file: 'pipeline/bus/range-steps.js',
    find: "return this.#commit(range.end + 1, null, 'commit a range');",
    replace: `globalThis.faultPoint('after-insert');
      const committed = await this.#commit(range.end + 1, null, 'commit a range');
      globalThis.faultPoint('after-commit');
      return committed;`,
  },
  {
    file: 'pipeline/store/client.js',
    find: 'values: Readable.from([...statement, ...body], { objectMode: false, highWaterMark: 1 << 20 }),',
    replace: `values: Readable.from(
        text.startsWith('INSERT INTO logs') ? globalThis.faultInBody('mid-insert', [...statement, ...body]) : [...statement, ...body],
      { objectMode: false, highWaterMark: 1 << 20 }),`,
  },
];

/** What tells a process to strike at a point, the next time it comes there. */
export const armMessage = (point: FaultPoint, signal: FaultSignal): object => ({ type: 'arm-fault', point, signal });

export const DISARM_MESSAGE = { type: 'disarm-faults' } as const;
