import type { Finding } from './detector.ts';

/** A finding that counts in steps of `step` minutes, in minutes: it fired, and was reported, at the last one of a step. */
export function inMinutes(finding: Finding, step: number): Finding {
  const { firedAt, updatedAt, window, scale } = finding;
  const last = (slot: number): number => (slot + 1) * step - 1;
  return {
    ...{ ...finding, firedAt: last(firedAt), updatedAt: last(updatedAt), scale: scale * step },
    window: { start: window.start * step, end: last(window.end) },
  };
}
