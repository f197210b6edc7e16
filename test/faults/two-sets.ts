import { comparable } from '../e2e/every-question.ts';
import { tableHashes, type Ask } from '../e2e/set-hashes.ts';
import { SET_HEADER } from '../../api/engine/set-engine.ts';
import type { Cluster, ProcessName } from './cluster.ts';
import { clickhouseText, linesOf } from './clickhouse-text.ts';
import type { Measures } from './measures.ts';
import { SHARD_NAMES } from './shard-names.ts';
import type { Violation } from './verdict.ts';

const EQUAL_WITHIN_MS = 300_000;
const SERVES_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 1000;
const HOUR_MS = 3_600_000;

/** What any two whole copies of the load's entries must give alike. Every message of the load is another one. */
const QUERIES = [
  '* | stats count() n, count_uniq(_msg) messages',
  '* | stats by (level) count() n | sort by (level)',
  '* | stats by (_time:1m) count() n | sort by (_time)',
  '* | sort by (_msg) | limit 200',
  '* | sort by (_msg desc) | limit 200 | fields _time, _msg, _stream',
  '* | top 20 by (host)',
];

type Compared = {
  readonly cluster: Cluster;
  /** When the load began: milliseconds since the epoch. */
  readonly began: number;
  readonly measures: Measures;
  readonly log: (line: string) => void;
};

/** The servers of the second set, each asked as the owner of its tables. */
const shardsOf = ({ shards }: Cluster): Ask[] => shards.indexes.map((index) => (statement) => shards.ask(index, statement));

/** The server of the first set, asked in the same way. */
const firstOf =
  (cluster: Cluster): Ask =>
  async (statement) =>
    linesOf(await clickhouseText(cluster, statement)).map((line) => line.split('\t'));

/** When nothing is sent any more: what tells the two sets apart, in their rows and in their answers. */
export async function compareSets(compared: Compared): Promise<Violation[]> {
  const { cluster, measures, log } = compared;
  const since = Date.now();
  const look = (): Promise<Record<string, string>[]> => Promise.all([tableHashes(firstOf(cluster)), tableHashes(...shardsOf(cluster))]);
  let apart: readonly string[];
  for (;;) {
    const [a = {}, b = {}] = await look();
    apart = Object.keys({ ...a, ...b }).flatMap((table) =>
      a[table] === b[table] ? [] : [`${table}: ${String(a[table])}, ${String(b[table])}`],
    );
    if (apart.length === 0) break;
    if (Date.now() - since > EQUAL_WITHIN_MS) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  measures.set('two sets: from the last entry until they are equal, s', (Date.now() - since) / 1000);
  const rows = await Promise.all([firstOf(cluster), ...shardsOf(cluster)].map(rowsOf));
  const [, ...ofShards] = rows;
  measures.set('two sets: entries in the second one', ofShards.reduce((sum, { count }) => sum + count, 0)); // prettier-ignore
  log(`the sets are ${apart.length === 0 ? 'equal' : 'not equal'}: ${JSON.stringify(rows)}`);
  const twice = rows.filter(({ count, positions }) => count !== positions);
  return [
    ...violation('a table is not the same in both sets', apart),
    ...violation('a position is in a set more than once', twice),
    ...(await otherAnswers(compared)),
  ];
}

const violation = (check: string, examples: readonly unknown[]): Violation[] =>
  examples.length === 0 ? [] : [{ check, count: examples.length, examples }];

/** Rows of a server, and how many of the log's positions they are. */
async function rowsOf(ask: Ask): Promise<{ readonly count: number; readonly positions: number }> {
  const [[count, positions] = []] = await ask('SELECT count(), uniqExact(kafka_part, kafka_off, kafka_idx) FROM logweir.logs');
  return { count: Number(count), positions: Number(positions) };
}

async function otherAnswers(compared: Compared): Promise<Violation[]> {
  const others = SHARD_NAMES.slice(0, compared.cluster.shards.indexes.length);
  const ofA = await answersOf(compared, 'a', others);
  const ofB = await answersOf(compared, 'b', ['clickhouse']);
  compared.measures.set('two sets: questions that each has answered', Object.keys(ofA).length);
  const different = Object.entries(ofA).filter(([question, answer]) => answer !== ofB[question] || !answer.startsWith('200 '));
  return violation(
    'a question has another answer in the other set',
    different.map(([question, answer]) => ({ question, a: answer.slice(0, 500), b: ofB[question]?.slice(0, 500) })),
  );
}

/** The answers of a set while the servers of the other one stand still, by question. */
async function answersOf({ cluster, began }: Compared, set: string, others: readonly ProcessName[]): Promise<Record<string, string>> {
  for (const name of others) cluster.process(name).pause();
  try {
    const window = { start: new Date(began - HOUR_MS).toISOString(), end: new Date(began + 24 * HOUR_MS).toISOString() };
    const parameters = new URLSearchParams({ query: '*', step: '1m', fields_by: 'level', ...window }).toString();
    const answers: Record<string, string> = {};
    for (const query of QUERIES) answers[query] = await answerOf(cluster, set, '/search', { query, ...window, limit: 1000 });
    for (const path of ['/hits', '/facets', '/streams']) answers[path] = await answerOf(cluster, set, `${path}?${parameters}`);
    return answers;
  } finally {
    for (const name of others) cluster.process(name).resume();
    await cluster.untilReady();
  }
}

/** An answer that this set has given: it is asked for again until the set serves. */
async function answerOf({ apis, key }: Cluster, set: string, at: string, body?: object): Promise<string> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const deadline = Date.now() + SERVES_WITHIN_MS;
  for (;;) {
    const response = await fetch(`${apis[0]?.appUrl ?? ''}/api/v1/tenants/1${at}`, { ...init, signal: AbortSignal.timeout(60_000) });
    const text = await response.text();
    const isIts = response.headers.get(SET_HEADER) === set;
    if (isIts && response.status !== 503) return `${String(response.status)} ${JSON.stringify(comparable(JSON.parse(text), at))}`;
    if (Date.now() > deadline) return `no answer of the set ${set}: ${String(response.status)} ${text}`;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
