/**
 * `npm run promql-oracle -- --binary PATH [--count 5000] [--seed 1]`: expressions by a seed, each to Prometheus 3 and to the evaluator, over the samples of
 * the conformance data (LOGWEIR_SHARED): at one time and over a range. Exit code 1 where an answer differs. PATH is a server of Prometheus 3, which
 * Go's proxy has as source: `go build -tags remove_all_sd github.com/prometheus/prometheus/cmd/prometheus` in `test/promql/oracle/`.
 */
import { parseArgs } from 'node:util';
import { compress } from 'snappyjs';
import { Random } from '../../fuzz/random.ts';
import { answer, difference, loadSeries, type Case } from '../conformance.ts';
import { MemorySource } from '../memory-source.ts';
import { Expressions } from './expressions.ts';
import { startPrometheus } from './prometheus-process.ts';
import { reasonOf } from './reasons.ts';
import { writeRequest } from './write-request.ts';

const { values: flags } = parseArgs({
  options: {
    binary: { type: 'string' },
    count: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
    /** So many differences are shown. */
    lines: { type: 'string', default: '20' },
  },
});
if (flags.binary === undefined) throw new Error('Name the program: --binary PATH.');
/** Sums of the same numbers in another order differ by so much. */
const LEAST = 1e-12;
const write = (text: string): void => void process.stdout.write(`${text}\n`);

const series = loadSeries();
const source = new MemorySource(series);
const times = series.flatMap(({ timestamps }) => [timestamps[0] ?? Infinity, timestamps.at(-1) ?? -Infinity]);
const [first, last] = [Math.min(...times) / 1000, Math.max(...times) / 1000];

const prometheus = await startPrometheus(flags.binary);
const [faults, known]: [string[], string[]] = [[], []];
let [equal, refused] = [0, 0];
try {
  // in the order of their labels: which of equal values comes first is up to the order in which Prometheus got to know them
  for (const one of source.series) await send(writeRequest([one]));
  const random = new Random(Number(flags.seed));
  const expressions = new Expressions(random);
  for (let turn = 0; turn < Number(flags.count); turn++) {
    const query = expressions.next();
    const test = await asked(query, random);
    const fault = difference(test, await answer(test, source), LEAST);
    const reason = fault === null ? null : reasonOf(query);
    if (fault === null) equal += 1;
    else if (reason !== null) known.push(`${query}: ${reason}`);
    else faults.push(`${test.endpoint} ${JSON.stringify(test.params)}\n    ${fault}`);
    if (test.answer.status === 'error') refused += 1;
  }
} finally {
  await prometheus.stop();
}
write(known.join('\n'));
write(faults.slice(0, Number(flags.lines)).join('\n'));
write(`${String(equal)} of ${flags.count} equal (seed ${flags.seed}); ${String(refused)} of them refused by both`);
process.exitCode = faults.length === 0 ? 0 : 1;

async function send(body: Buffer): Promise<void> {
  const response = await fetch(`${prometheus.url}/api/v1/write`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-protobuf', 'Content-Encoding': 'snappy' },
    body: Buffer.from(compress(body)),
  });
  if (response.status >= 300) throw new Error(`Prometheus answered ${String(response.status)}: ${await response.text()}`);
}

/** A question with Prometheus' answer. */
async function asked(query: string, random: Random): Promise<Case> {
  const start = Math.round(first + random.below(Math.floor(last - first)));
  const step = [7, 15, 60, 150, 600][random.below(5)] ?? 60;
  const isRange = random.below(2) === 0;
  const params: Case['params'] = isRange
    ? { query, start, end: Math.min(last + 400, start + step * random.below(40)), step }
    : { query, time: start };
  const endpoint = isRange ? 'query_range' : 'query';
  const form = new URLSearchParams(Object.entries(params).map(([name, value]): [string, string] => [name, String(value)]));
  const response = await fetch(`${prometheus.url}/api/v1/${endpoint}`, { method: 'POST', body: form });
  return { endpoint, params, answer: (await response.json()) as Case['answer'] };
}
