import type { Seen } from '../../detectors/custom.ts';

/** A point as it goes over the pipe: minute, value, entries, errors. */
export type SentPoint = readonly [number, number | null, number, number];

/** A series for a detector: its state as JSON (null: none yet), and its next points in order. */
export type RequestedSeries = { readonly state: string | null; readonly points: readonly SentPoint[] };

/** The answer for it: its state behind the points, and what was seen at which of them. */
export type LookedSeries = { readonly state: string; readonly seen: readonly (readonly [index: number, seen: Seen])[] };

/** What a file exports: a detector, or several. */
export type DetectorLook = { readonly name: string; readonly description: string };

/** What is sent to a detector's process: where its code is, first, and then requests. */
export type ToDetector =
  | { readonly kind: 'load'; readonly specifier: string; readonly folder: string }
  | { readonly kind: 'look'; readonly id: number; readonly detector: string; readonly series: readonly RequestedSeries[] };

/** What it sends. Foreign code may send anything: nothing of it is used before it was checked. */
export type FromDetector =
  | { readonly kind: 'loaded'; readonly detectors: readonly DetectorLook[] }
  | { readonly kind: 'looked'; readonly id: number; readonly series: readonly LookedSeries[] }
  | { readonly kind: 'fault'; readonly id: number | null; readonly fault: string };
