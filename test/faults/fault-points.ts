import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FaultPeriod, FaultPoint, SafetyPart } from '../../pipeline/core/fault-points.ts';

/** What a process is made to do at a point: die, or stop until it is resumed. */
export type FaultSignal = 'SIGKILL' | 'SIGSTOP';

/** Points on the way of a range into the table, in their order (docs/adr/0003-exactly-once-sink.md). */
export const SINK_POINTS = ['after-intent', 'mid-insert', 'after-insert', 'after-commit'] as const satisfies readonly FaultPoint[];
/** Points on the way of what processors find, and of their states (docs/adr/0023-one-reader-for-every-processor.md). */
export const HOST_POINTS = ['before-outputs', 'after-outputs', 'after-snapshot'] as const satisfies readonly FaultPoint[];

/** So that there is enough of either in a minute. */
export const SHORT_PERIODS: Readonly<Record<FaultPeriod, number>> = { snapshot: 300, 'volume-minute': 1500, 'span-step': 1000 };

export type PreloadOptions = {
  /** The safety parts that are off. */
  readonly off?: readonly SafetyPart[];
  /** Milliseconds. */
  readonly periods?: Readonly<Partial<Record<FaultPeriod, number>>>;
};

/** The module that is loaded into a process of the service before its program (`--import`): it knows how to strike, and what is off. */
export function faultPreload({ off = [], periods = {} }: PreloadOptions = {}): string {
  const url = pathToFileURL(path.join(import.meta.dirname, 'fault-points.mjs'));
  url.searchParams.set('off', JSON.stringify(off));
  url.searchParams.set('periods', JSON.stringify(periods));
  return url.href;
}

/** What tells a process to strike at a point, the next time it comes there. */
export const armMessage = (point: FaultPoint, signal: FaultSignal): object => ({ type: 'arm-fault', point, signal });

export const DISARM_MESSAGE = { type: 'disarm-faults' } as const;
