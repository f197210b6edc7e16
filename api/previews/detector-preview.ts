import { setImmediate } from 'node:timers/promises';
import { StatsPipe } from '../../logsql/pipes/stats.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { invalidBody } from '../../pipeline/core/errors.ts';
import { wordsFrom } from '../../pipeline/core/severity.ts';
import type { Finding, Sensitivity } from '../../pipeline/detectors/detector.ts';
import { detectors, patternDetectors } from '../../pipeline/detectors/index.ts';
import { alertsOf } from '../../pipeline/detectors/replayed.ts';
import { PatternSeries } from '../../pipeline/detectors/series/pattern-series.ts';
import { newSeries } from '../../pipeline/detectors/series/series.ts';
import type { Deps, Request } from '../query/deps.ts';
import { SHOWN_MINUTES, shownAlert, within } from './answer.ts';
import { historyOf, isoOf, minutesBefore, type Group, type Minutes } from './history.ts';

/** Streams that are replayed: those with the most entries. */
const MOST_PREVIEWED_STREAMS = 5;
/** Minutes before those that are shown, of which a detector learns what is usual: it does not fire in its first 26 hours. */
const TAUGHT_MINUTES = 27 * 60;
/** Points after which others of this process have their turn. */
const AT_ONCE = 100;
const MINUTE_MS = 60_000;
const FACTORED = ['low', 'normal', 'high'] as const;
/** Errors, by level, as detectors count them. */
const ERRORS = `level:~"(?i)^(${wordsFrom(5).join('|')})$"`;
const COUNTS = `* | stats count() as entries, count() if (${ERRORS}) as errors`;

/** The detectors of which a preview can be made: those of counts. */
const PREVIEWED: readonly string[] = [...detectors.names, ...patternDetectors.names];

type Parameters = { readonly detector: string; readonly query: string };

/** `POST /detectors/preview`: what a detector would have fired in the last 24 hours with each sensitivity, by what is stored. */
export async function previewDetector({ detector, query }: Parameters, request: Request, deps: Deps): Promise<string> {
  if (!PREVIEWED.includes(detector)) throw invalidBody(`There are previews of ${PREVIEWED.join(', ')}.`);
  const { filter } = parseQuery(query, { now: deps.now() });
  const [pipe] = parseQuery(COUNTS, { now: 0n }).pipes;
  if (!(pipe instanceof StatsPipe)) throw new Error('BUG: the counts of a preview.');
  const isPattern = patternDetectors.find(detector) !== undefined;
  const minutes = minutesBefore(deps.now(), SHOWN_MINUTES + TAUGHT_MINUTES, 1, request.retentionDays);
  const shownFrom = Math.max(minutes.from, minutes.to - SHOWN_MINUTES);
  const wanted = { filter, by: isPattern ? [] : ['_stream'], most: MOST_PREVIEWED_STREAMS, calls: pipe.calls, minutes, step: 1 };
  const { groups, hasMore } = await historyOf(wanted, request, deps);
  const replay = isPattern ? ofPattern(detector) : ofCounts(detector);
  const series: { readonly stream: string; readonly alerts: Readonly<Record<string, readonly object[]>> }[] = [];
  for (const group of groups) {
    const points = pointsOf(group, minutes);
    const alerts: Record<string, object[]> = {};
    for (const name of FACTORED)
      alerts[name] = within(alertsOf(await replayed(points, replay(name), request.signal)), shownFrom).map(shownAlert);
    series.push({ stream: group.labels[0] ?? '', alerts });
  }
  const fired = FACTORED.map((name) => [name, series.reduce((sum, { alerts }) => sum + (alerts[name]?.length ?? 0), 0)]);
  return JSON.stringify({
    window: { start: isoOf(shownFrom), end: isoOf(minutes.to) },
    fired: Object.fromEntries(fired) as object,
    has_more_streams: hasMore,
    series,
  });
}

type Counted = { readonly minute: number; readonly entries: number; readonly errors: number };
/** What a point finds, of a series that has seen those before. */
type Look = (point: Counted) => readonly Finding[];
type Replay = (sensitivity: Sensitivity) => Look;

/** The findings of all points. Others of this process have their turn between them. */
async function replayed(points: readonly Counted[], look: Look, signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [at, point] of points.entries()) {
    if (at % AT_ONCE === 0) {
      await setImmediate();
      signal.throwIfAborted();
    }
    findings.push(...look(point));
  }
  return findings;
}

/** The points from the first one that has entries on: before it there is nothing to learn. */
function pointsOf({ rows }: Group, minutes: Minutes): Counted[] {
  const { to } = minutes;
  const from = Math.max(minutes.from, Math.min(to, ...rows.keys()));
  return Array.from({ length: to - from }, (_none, at) => {
    const row = rows.get(from + at);
    const numberOf = (name: string): number => Number(textOf(row?.get(name) ?? '0'));
    return { minute: from + at, entries: numberOf('entries'), errors: numberOf('errors') };
  });
}

/** All detectors of counts look, as in the service, since of the same counts one fires at a time; this one's findings are kept. */
const ofCounts =
  (detector: string): Replay =>
  (sensitivity) => {
    const series = newSeries();
    return ({ minute, entries, errors }) => {
      const end = (minute + 1) * MINUTE_MS - 1;
      series.add(minute, { entries, errors }, end);
      return series.tick(end, (name) => (name === detector ? sensitivity : 'normal')).filter((found) => found.detector === detector);
    };
  };

/** What matches is taken as the errors of one template. */
const ofPattern =
  (detector: string): Replay =>
  (sensitivity) => {
    const series = new PatternSeries();
    return ({ minute, entries }) => {
      const end = (minute + 1) * MINUTE_MS - 1;
      series.add(minute, entries, end);
      return series.tick(end, () => sensitivity).filter((found) => found.detector === detector);
    };
  };
