import path from 'node:path';
import type { Patch } from './patched-dist.ts';

/** What a process is made to do at a point: die, or stop until it is resumed. */
export type FaultSignal = 'SIGKILL' | 'SIGSTOP';

/** Points on the way of a range into the table, in their order (docs/adr/0003-exactly-once-sink.md). */
export const FAULT_POINTS = ['after-intent', 'mid-insert', 'after-insert', 'after-commit'] as const;
/** Points on the way of what processors find, and of their states (docs/adr/0023-one-reader-for-every-processor.md). */
export const HOST_POINTS = ['before-outputs', 'after-outputs', 'after-snapshot'] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number] | (typeof HOST_POINTS)[number];

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
  {
    file: 'pipeline/processors/write-queue.js',
    find: 'await this.#options.write(step.records);',
    replace: `{
                    globalThis.faultPoint('before-outputs');
                    await this.#options.write(step.records);
                    globalThis.faultPoint('after-outputs');
                }`,
  },
  {
    file: 'pipeline/processors/hosted-partition.js',
    find: 'await states.save(this.partition, next, bytes);',
    replace: "await states.save(this.partition, next, bytes); globalThis.faultPoint('after-snapshot');",
  },
  // so that there is enough of either in a minute
  { file: 'pipeline/processors/hosted-partition.js', find: 'const SNAPSHOT_MS = 30_000;', replace: 'const SNAPSHOT_MS = 300;' },
  { file: 'pipeline/processors/volume/spans.js', find: 'MINUTE_MS = 60_000;', replace: 'MINUTE_MS = 1500;' },
];

/** What tells a process to strike at a point, the next time it comes there. */
export const armMessage = (point: FaultPoint, signal: FaultSignal): object => ({ type: 'arm-fault', point, signal });

export const DISARM_MESSAGE = { type: 'disarm-faults' } as const;
