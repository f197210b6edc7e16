/** Series lines of Prometheus' promqltest files: `name{label="value"} 1 2+3x4 _ stale {{schema:0 count:1}}`. */
import { addHistograms, subtractHistograms } from '../../../promql/histograms/arithmetic.ts';
import { CUSTOM_SCHEMA, EMPTY, type Buckets, type Histogram, type ResetHint } from '../../../promql/histograms/histogram.ts';
import { Labels, METRIC_NAME } from '../../../promql/values/labels.ts';
import { readNumber } from '../../../promql/values/numbers.ts';
import { unquote } from '../../../promql/parser/unquote.ts';
import type { Sample } from '../memory-source.ts';

/** A value; absent where there is a gap. `hasHint`: it says itself whether a histogram is a counter that goes on. */
export type Value = { readonly sample: Sample | undefined; readonly hasHint: boolean };

export type SeriesLine = { readonly labels: Labels; readonly values: readonly Value[]; readonly isStart: boolean };

const PAIR = /\s*("(?:[^"\\]|\\.)*"|[\w.:]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))?\s*,?/y;

const text = (quoted: string): string => (/^["'`]/.test(quoted) ? (unquote(quoted) ?? '') : quoted);

/** The labels at the beginning of a line, and where they end. */
function readLabels(line: string): { readonly labels: Labels; readonly end: number } {
  const name = /^[A-Za-z_:][\w:]*/.exec(line)?.[0] ?? '';
  const pairs: (readonly [string, string])[] = name === '' ? [] : [[METRIC_NAME, name]];
  if (line[name.length] !== '{') return { labels: Labels.of(pairs), end: name.length };
  PAIR.lastIndex = name.length + 1;
  for (;;) {
    const at = PAIR.lastIndex;
    const found = PAIR.exec(line);
    if (found === null) return { labels: Labels.of(pairs), end: line.indexOf('}', at) + 1 };
    pairs.push(found[2] === undefined ? [METRIC_NAME, text(found[1] ?? '')] : [text(found[1] ?? ''), text(found[2])]);
  }
}

/** A line with a series. */
export function readSeries(line: string): SeriesLine {
  const isScalar = /^[-+]?(?:[\d.]|inf|nan)/i.test(line) && !/^(?:inf|nan)\w*[{:]/i.test(line);
  const { labels, end } = isScalar ? { labels: Labels.NONE, end: 0 } : readLabels(line);
  const rest = line.slice(end);
  const isStart = rest.startsWith('@st');
  return { labels, values: isStart ? [] : readValues(rest), isStart };
}

const NUMBER = String.raw`[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|0x[0-9a-fA-F]+|[iI]nf|[nN]a[nN])`;
const ITEM = new RegExp(
  String.raw`\s*(?:(_)(?:x(\d+))?|(stale)|(\{\{.*?\}\})(?:([+-])(\{\{.*?\}\}))?(?:x(\d+))?|(${NUMBER})(?:([+-]${NUMBER.slice(5)}))?(?:x(\d+))?)(?=\s|$)`,
  'y',
);

/** The values of a series, as many as they stand for. */
function readValues(line: string): readonly Value[] {
  const values: Value[] = [];
  const rest = line.replace(/#.*$/, '').trim();
  ITEM.lastIndex = 0;
  while (ITEM.lastIndex < rest.length) {
    const at = ITEM.lastIndex;
    const found = ITEM.exec(rest);
    if (found === null) throw new Error(`Unreadable values: ${rest.slice(at)}`);
    const [, gap, gaps, stale, histogram, sign, step, times, number, change, count] = found;
    if (gap !== undefined) values.push(...Array.from({ length: Number(gaps ?? 1) }, () => ({ sample: undefined, hasHint: false })));
    else if (stale !== undefined) values.push({ sample: 'stale', hasHint: false });
    else if (histogram !== undefined) values.push(...histograms(histogram, sign, step, Number(times ?? 0)));
    else {
      const first = readNumber(number ?? '') ?? NaN;
      const grow = change === undefined ? 0 : (readNumber(change) ?? NaN);
      let current = first;
      for (let place = 0; place <= Number(count ?? 0); place += 1) {
        values.push({ sample: current, hasHint: false });
        current += grow;
      }
    }
  }
  return values;
}

function histograms(text: string, sign: string | undefined, step: string | undefined, times: number): Value[] {
  const hasHint = text.includes('counter_reset_hint');
  const values: Value[] = [];
  let current = readHistogram(text);
  const change = step === undefined ? undefined : readHistogram(step);
  for (let place = 0; place <= times; place += 1) {
    values.push({ sample: current, hasHint });
    if (change !== undefined) {
      const combined = (sign === '-' ? subtractHistograms : addHistograms)(current, change);
      if (combined === null) throw new Error(`Histograms do not go together: ${text}`);
      current = combined.histogram;
    }
  }
  return values;
}

const HINTS: Readonly<Record<string, ResetHint>> = { unknown: 'unknown', reset: 'reset', not_reset: 'not_reset', gauge: 'gauge' };

/** `{{schema:1 sum:-0.3 count:3 z_bucket:7 buckets:[5 10 7]}}`. */
function readHistogram(text: string): Histogram {
  const parts = new Map([...text.matchAll(/(\w+):(\[[^\]]*\]|[^\s}]+)/g)].map(([, name = '', value = '']) => [name, value]));
  const number = (name: string): number => readNumber(parts.get(name) ?? '0') ?? NaN;
  const list = (name: string): number[] =>
    (parts.get(name) ?? '')
      .replace(/[[\]]/g, '')
      .split(/\s+/)
      .filter((one) => one !== '')
      .map((one) => readNumber(one) ?? NaN);
  const buckets = (name: string, offset: string): Buckets => {
    const counts = list(name);
    return { counts, indexes: counts.map((_count, at) => at + number(offset)) };
  };
  const schema = number('schema');
  return {
    ...EMPTY,
    schema,
    sum: number('sum'),
    count: number('count'),
    zeroCount: number('z_bucket'),
    zeroThreshold: number('z_bucket_w'),
    positive: buckets('buckets', 'offset'),
    negative: buckets('n_buckets', 'n_offset'),
    custom: schema === CUSTOM_SCHEMA ? list('custom_values') : [],
    hint: HINTS[parts.get('counter_reset_hint') ?? ''] ?? 'unknown',
  };
}
