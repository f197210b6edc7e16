import type { Finding } from './detector.ts';

/** An alert, from its first finding to its last one. */
export type ReplayedAlert = {
  readonly detector: string;
  readonly side: Finding['side'];
  readonly firedAt: number;
  /** Null where it still fires. */
  readonly resolvedAt: number | null;
  readonly fireCount: number;
  /** The finding that was furthest from the expected value. */
  readonly z: number;
  readonly value: number;
  /** What was expected when it fired. */
  readonly expected: Finding['expected'];
};

/** The alerts of findings, in the order in which they fired. */
export function alertsOf(findings: readonly Finding[]): ReplayedAlert[] {
  const alerts = new Map<string, ReplayedAlert>();
  for (const { detector, side, firedAt, state, updatedAt, fireCount, z, value, expected } of findings) {
    const key = `${detector} ${side} ${String(firedAt)}`;
    const before = alerts.get(key) ?? { z, value, expected };
    const furthest = state === 'firing' && Math.abs(z) > Math.abs(before.z) ? { z, value } : { z: before.z, value: before.value };
    const resolvedAt = state === 'resolved' ? updatedAt : null;
    alerts.set(key, { detector, side, firedAt, resolvedAt, fireCount, ...furthest, expected: before.expected });
  }
  return [...alerts.values()].sort((a, b) => a.firedAt - b.firedAt);
}
