import { judged } from '../../api/prometheus/judged.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import { instantQuery, rangeQuery } from '../../promql/evaluation/query.ts';
import { Labels } from '../../promql/values/labels.ts';
import { MemorySource, rawSeries } from '../promql/memory-source.ts';
import { damagedText } from './queries.ts';
import type { Random } from './random.ts';
import { rounds, type RoundsOptions, type RoundsReport } from './rounds.ts';

const [SERIES, SAMPLES, STEP_MS] = [6, 30, 1000];
/** A query that takes longer is ended, as its deadline does. Milliseconds. */
const TIME_MS = 1000;
const source = new MemorySource(
  Array.from({ length: SERIES }, (_none, place) =>
    rawSeries(
      Labels.of([
        ['__name__', place < 3 ? 'up' : 'requests_bucket'],
        ['instance', String(place % 3)],
        ['le', place < 3 ? '' : ['0.1', '1', '+Inf'][place % 3]!],
      ]),
      Array.from({ length: SAMPLES }, (_sample, at) => [at * STEP_MS, at % 7 === 6 ? 'stale' : at * place] as const),
    ),
  ),
);

const WHOLE = [
  ...[
    'up',
    'up{instance="1"}',
    'up{instance=~"0|1",le!="x"}[10s]',
    '{__name__=~"up|req.*"}',
    'up offset 5s',
    'up @ 10',
    'up @ end() offset -1s',
  ],
  ...[
    'rate(up[10s])',
    'increase(requests_bucket[20s])',
    'histogram_quantile(0.9, sum by (le) (rate(requests_bucket[10s])))',
    'deriv(up[20s:5s])',
  ],
  ...['max_over_time(rate(up[5s])[20s:1s])', 'quantile_over_time(0.5, up[10s])', 'predict_linear(up[10s], 60)', 'absent(up{instance="9"})'],
  ...['sum without (instance) (up) / on (le) group_left () count(up) by (le)', 'topk(2, up) or bottomk(1, up)', 'count_values("v", up)'],
  ...['up and on (instance) requests_bucket unless up > bool 3', 'label_replace(up, "a", "$1-x", "instance", "(.*)")', '-up ^ 2 ^ 0.5 % 3'],
  ...[
    'label_join(up, "j", "-", "instance", "le")',
    'sort_desc(up)',
    'scalar(up{instance="0"}) + vector(time())',
    'clamp(up, 1, 2) == bool 1',
  ],
  ...[
    'day_of_month(vector(1e9))',
    'sum(up) by (instance) > 1 < 1e3',
    '0x1F + .5e-3 - Inf * NaN',
    '"a \\" string"',
    'stddev(up) and up',
    'group(up)',
  ],
  ...[
    'avg_over_time(up[10s] offset 2s)',
    'changes(up[20s])',
    'resets(up[20s])',
    'holt_winters(up[10s], 0.5, 0.5)',
    'limitk(2, up)',
    'up[10s] # c',
  ],
  ...[
    'sum(rate({"requests_bucket", le="1"}[15s]))',
    'min by (le) (up) - ignoring (le) max(up)',
    'round(up, 0.3)',
    'timestamp(up)',
    'atan2(up, up)',
  ],
];
const WORDS = [
  ...[
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
    ',',
    '=~',
    '!~',
    '!=',
    '==',
    '"',
    "'",
    '`',
    '\\',
    '*',
    '^',
    '%',
    ' by (',
    ' on (',
    ' group_left ',
    ' offset ',
  ],
  ...[
    ' @ ',
    ' start()',
    ' bool ',
    ' and ',
    ' unless ',
    '[5m:1s]',
    '[1ms]',
    '[100y]',
    '9223372036854775808',
    '1e400',
    '-Inf',
    'NaN',
    '0x',
    '\0',
  ],
  ...[
    'sum(',
    'rate(',
    'label_replace(',
    'quantile(2, ',
    'topk(1e18, ',
    'count_values("é", ',
    '(?:a*)*b',
    '__name__',
    '__proto__',
    '#',
    '[30s:0s]',
  ],
].map((word) => Buffer.from(word));

/** Reads and evaluates an expression, as a query worker does, and gives its status. Throws where that is another one than may be. */
async function runPromql(text: string, isRange: boolean): Promise<string> {
  const until = performance.now() + TIME_MS;
  const checkpoint = (): void => {
    if (performance.now() > until) throw new HttpError(422, 'timeout', 'query timed out in expression evaluation');
  };
  const options = { source, checkpoint, maxSamples: 100_000 };
  try {
    await judged(() => (isRange ? rangeQuery(text, 0, SAMPLES * STEP_MS, 3 * STEP_MS, options) : instantQuery(text, 20_000, options)));
    return '200';
  } catch (error) {
    if (!(error instanceof HttpError) || error.status < 400 || error.status >= 500) throw error;
    return `${String(error.status)}${error.message.startsWith('query timed out') ? ' time' : ''}`;
  }
}

/** Damaged expressions of PromQL, through the parser and the evaluation. */
export const fuzzPromql = (options: RoundsOptions): Promise<RoundsReport> =>
  rounds(options, (random: Random) => {
    const text = damagedText(random.pick(WHOLE), random.pick(WHOLE), random, WORDS);
    const isRange = random.below(2) === 0;
    return { what: `${isRange ? 'range' : 'instant'} ${JSON.stringify(text)}`, run: () => runPromql(text, isRange) };
  });
