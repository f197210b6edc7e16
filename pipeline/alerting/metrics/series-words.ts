import { shortNumber } from '../../../promql/values/numbers.ts';
import type { AlertText, AlertWords, Subject } from '../book/reports.ts';
import { renderStream } from '../../core/labels.ts';
import type { Finding } from '../../detectors/detector.ts';
import { labelsText, NAME, type Labels } from '../../samples/definition.ts';
import { cut, formerRule, iso, metricLinks, severityOf, valueOf } from './metric-words.ts';
import type { ReadMetricRule } from './metric-rule.ts';
import { MOST_WATCHED } from './series-watch.ts';

/** What an alert is about whose rule watches: a series with its last values, or the rule where `labels` is null. */
export type SeriesSubject = Subject & {
  readonly read: ReadMetricRule;
  readonly labels: Labels | null;
  readonly recent: readonly (number | null)[];
};

/** Around a finding a link shows so much, before and behind it. Minutes. */
const AROUND = 30;

const rounded = (number: number): number => Number(number.toPrecision(6));
const minutesOf = (count: number): string => (count === 1 ? 'minute' : `${String(count)} minutes`);

/** The label set of a series with its metric, and its service; of none those of the rule. */
export function placeOfSeries(labels: Labels | null): { readonly stream: string; readonly service: string } {
  const own = labels ?? [];
  return { stream: renderStream(own), service: valueOf(own, 'service', 'service_name', 'job') };
}

function textOf({ side, value, mean, expected, scale, window }: Finding, { read, labels }: SeriesSubject): AlertText {
  const { name, rule } = read;
  if (labels === null)
    return {
      title: `Rule '${name}' gives too many series: ${String(value)} are not watched`,
      description: `A rule watches at most ${String(MOST_WATCHED)} series, those that came first, and all rules of a tenant as many as they may hold. Others are not watched until some have had no value for a day. Select fewer, or group them: \`${cut(rule.expr)}\`.`,
      severity: 'info',
    };
  const shown = labels.filter(([label]) => label !== 'severity' && label !== NAME);
  const of = shown.length === 0 ? '' : ` of ${cut(renderStream(shown))}`;
  const band = `${shortNumber(rounded(expected.low))} to ${shortNumber(rounded(expected.high))}`;
  const now = shortNumber(rounded(value));
  return {
    title: `${name}${of} ${side === 'up' ? 'rose' : 'fell'} to ${now}, expected ${band}`,
    description: `${name}${of} was ${now} in the ${minutesOf(scale)} from ${iso(window.start * 60_000)}. Its baseline is ${shortNumber(rounded(mean))}, and ${band} is usual. It is the value of \`${cut(rule.expr)}\`.`,
    severity: severityOf(labels),
  };
}

/** The words of alerts of rules that watch. */
export const seriesWords: AlertWords<SeriesSubject> = {
  key: ({ side, firedAt }, { read, labels }) => ['watch', read.rule.id, labels === null ? '' : labelsText(labels), side, firedAt],
  text: textOf,
  evidence({ window, scale, side, z, value, mean, expected }, { read, labels, recent }) {
    const { id, group, expr, interval, direction, sensitivity } = read.rule;
    const step = read.intervalMs / 60_000;
    const times = { start: iso((window.start - AROUND) * 60_000), end: iso((window.end + 1 + AROUND) * 60_000) };
    const past = {
      z_score: rounded(z),
      baseline_mean: rounded(mean),
      expected: { low: rounded(expected.low), high: rounded(expected.high) },
    };
    return JSON.stringify({
      rule: { id, name: read.name, signal: 'metrics', group, query: expr, every: interval, direction, sensitivity },
      current_value: rounded(value),
      ...(labels === null ? { notice: 'series' } : past),
      window: { start: iso(window.start * 60_000), end: iso((window.end + 1) * 60_000) },
      scale_minutes: scale,
      direction: side,
      ...(labels === null
        ? {}
        : {
            labels: Object.fromEntries(labels),
            series: {
              minute: iso((window.end + 1 - step * recent.length) * 60_000),
              step: `${String(step)}m`,
              values: recent.map((one) => one && rounded(one)),
            },
          }),
      links: metricLinks(expr, times, { hasExemplars: false }),
    });
  },
  about: ({ read }) => read.rule.id,
  aboutFormer: formerRule,
};
