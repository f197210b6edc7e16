import { setImmediate } from 'node:timers/promises';
import { metricRuleSettings } from '../../pipeline/alerting/metrics/metric-rule-fault.ts';
import { readMetricRule, type ReadMetricRule } from '../../pipeline/alerting/metrics/metric-rule.ts';
import { WatchedSeries } from '../../pipeline/alerting/metrics/watched-series.ts';
import { invalidBody } from '../../pipeline/core/errors.ts';
import type { Json } from '../../pipeline/core/setting.ts';
import type { Finding } from '../../pipeline/detectors/detector.ts';
import { alertsOf } from '../../pipeline/detectors/replayed.ts';
import { seriesLabels } from '../../pipeline/samples/derived-samples.ts';
import type { RawSeries } from '../../promql/base/series.ts';
import { rangeQuery } from '../../promql/evaluation/query.ts';
import { short, SHOWN_MINUTES, shownAlert, within } from '../previews/answer.ts';
import { isoOf, minutesBefore, type Minutes } from '../previews/history.ts';
import type { Deps, Request } from '../query/deps.ts';
import { judged } from './judged.ts';
import { optionsOf } from './operations.ts';

const MINUTE_MS = 60_000;
/** Series that are replayed: the first ones by their labels. */
const MOST_PREVIEWED_SERIES = 20;
/** Steps that a detector looks at before it may fire, and how far back it is taught at least. Minutes of the latter. */
const TAUGHT_STEPS = 170;
const TAUGHT_MINUTES = 24 * 60;

/** `POST /metric-rules/preview`: what a rule that watches would have fired in the last 24 hours, by what is stored. */
export async function previewWatch({ rule }: { readonly rule: Json }, request: Request, deps: Deps): Promise<string> {
  const fault = metricRuleSettings.checkSetting({ tenantId: request.tenantId, value: rule });
  const read = readMetricRule(rule);
  if (typeof read === 'string') throw invalidBody(read);
  if (fault !== null) throw invalidBody(fault);
  if (read.kind !== 'watch') throw invalidBody('The preview is of rules that watch; query_range shows what another expression gives.');
  const step = read.intervalMs / MINUTE_MS;
  const taught = Math.ceil(Math.max(TAUGHT_MINUTES, TAUGHT_STEPS * step) / step) * step;
  const minutes = minutesBefore(deps.now(), SHOWN_MINUTES + taught, step, request.retentionDays);
  const shownFrom = Math.max(minutes.from, minutes.to - SHOWN_MINUTES);
  const options = optionsOf(null, request, deps);
  // the value of a step is that of its end
  const { value } = await judged(() => rangeQuery(read.rule.expr, (minutes.from + step) * MINUTE_MS, Math.max(minutes.from + step, minutes.to) * MINUTE_MS, read.intervalMs, options)); // prettier-ignore
  const found = value.type === 'matrix' ? value.series : [];
  if (found.some(({ histograms = [] }) => histograms.some((one) => one !== undefined)))
    throw invalidBody('The expression gives native histograms, which are not watched.');
  const series: ReturnType<typeof replayed>[] = [];
  for (const one of found.slice(0, MOST_PREVIEWED_SERIES)) {
    // others of this process have their turn
    await setImmediate();
    request.signal.throwIfAborted();
    series.push(replayed(read, one, minutes, shownFrom));
  }
  return JSON.stringify({
    window: { start: isoOf(shownFrom), end: isoOf(minutes.to) },
    every: read.rule.interval,
    fired: series.reduce((sum, { alerts }) => sum + alerts.length, 0),
    has_more_series: found.length > MOST_PREVIEWED_SERIES,
    series,
  });
}

function replayed(read: ReadMetricRule, { labels, timestamps, values }: RawSeries, { from, to }: Minutes, shownFrom: number) {
  const step = read.intervalMs / MINUTE_MS;
  const came = new Map([...timestamps].map((time, at) => [time / MINUTE_MS - step, values[at] ?? null]));
  const own = seriesLabels([...labels.pairs(), ...Object.entries(read.labels)]);
  const watched = new WatchedSeries(own, step, from);
  const findings: Finding[] = [];
  const shown: (number | null)[] = [];
  for (let minute = from; minute < to; minute += step) {
    const value = came.get(minute) ?? null;
    const finding = watched.take(minute, value, read);
    if (finding !== null) findings.push(finding);
    if (minute >= shownFrom) shown.push(short(value));
  }
  return { labels: Object.fromEntries(own), values: shown, alerts: within(alertsOf(findings), shownFrom).map(shownAlert) };
}
