/** Which time the chart of an alert covers, and what stands at each of its steps. */
import type { Alert, Evidence } from './evidence.ts';

/** Entries a minute at each time (seconds), and those of earlier days. */
export type Counted = {
  readonly times: readonly number[];
  readonly values: readonly number[];
  readonly earlier: readonly (readonly number[])[];
};

export type CourseSpan = {
  readonly start: number;
  readonly end: number;
  readonly step: '1m' | '5m' | '15m' | '1h';
  readonly stepMs: number;
  /** Seconds. */
  readonly times: readonly number[];
};

const [MINUTE, HOUR] = [6e4, 36e5];
const STEPS: readonly (readonly [CourseSpan['step'], number])[] = [
  ['1m', MINUTE],
  ['5m', 5 * MINUTE],
  ['15m', 15 * MINUTE],
  ['1h', HOUR],
];
const MOST_POINTS = 240;
/** What is shown before it began, and after it ended. */
const [BEFORE, AFTER] = [HOUR, HOUR / 2];

/** From an hour before it began until half an hour after its end, or now; null where its evidence has no time. */
export function courseSpan(
  { fired_at: firedAt, resolved_at: resolvedAt }: Alert,
  { openedAt, window }: Evidence,
  now = Date.now(),
): CourseSpan | null {
  const began = Math.min(Date.parse(openedAt ?? firedAt), Date.parse(firedAt), window === null ? Infinity : Date.parse(window.start));
  const ended = resolvedAt === null ? now : Math.min(now, Date.parse(resolvedAt) + AFTER);
  if (!Number.isFinite(began) || ended <= began) return null;
  const [step, stepMs] = STEPS.find(([, ms]) => (ended - began + BEFORE) / ms <= MOST_POINTS) ?? (['1h', HOUR] as const);
  const start = Math.floor((began - BEFORE) / stepMs) * stepMs;
  // the step that is still open would look like a fall
  const many = Math.max(1, Math.floor((ended - start) / stepMs));
  const times = Array.from({ length: many }, (_none, at) => (start + at * stepMs) / 1000);
  return { start, end: start + many * stepMs, step, stepMs, times };
}

/** Counts of steps, so much later, as entries a minute at each of them. */
export function perMinute(
  hits: readonly { readonly time: string; readonly hits: number }[],
  { start, stepMs, times }: CourseSpan,
  later: number,
): number[] {
  const values = times.map(() => 0);
  for (const { time, hits: count } of hits) {
    const at = Math.floor((Date.parse(time) + later - start) / stepMs);
    if (at >= 0 && at < values.length) values[at] = (values[at] ?? 0) + (count * MINUTE) / stepMs;
  }
  return values;
}
