import type { ReplayedAlert } from '../../pipeline/detectors/replayed.ts';
import { isoOf } from './history.ts';

/** Hours of which a preview tells what would have fired. */
export const SHOWN_MINUTES = 24 * 60;

/** Numbers are shown to six digits. */
export const short = (value: number | null): number | null =>
  value === null || !Number.isFinite(value) ? null : Number(value.toPrecision(6));

/** An alert that would have fired, as it is answered. */
export const shownAlert = ({ firedAt, resolvedAt, side, value, expected, fireCount }: ReplayedAlert): object => ({
  fired_at: isoOf(firedAt),
  resolved_at: resolvedAt === null ? null : isoOf(resolvedAt),
  ...{ side, value: short(value), expected: { low: short(expected.low), high: short(expected.high) }, fire_count: fireCount },
});

/** Those that fire in the part that is shown, also where they began before. */
export const within = (alerts: readonly ReplayedAlert[], from: number): readonly ReplayedAlert[] =>
  alerts.filter(({ firedAt, resolvedAt }) => firedAt >= from || resolvedAt === null || resolvedAt >= from);
