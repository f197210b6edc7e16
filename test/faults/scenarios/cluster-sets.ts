import { retried } from '../../e2e/restarts/steady-client.ts';
import type { Cluster } from '../cluster.ts';
import { Measures } from '../measures.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { SHARD_NAMES } from '../shard-names.ts';
import type { Violation } from '../verdict.ts';
import { onThreeBrokers, staysUp } from './broker-steps.ts';
import { ENTRIES_PER_SECOND } from './cluster-brokers.ts';
import { bounded } from './measured.ts';
import { apiMetrics } from './served.ts';

const SEARCHES = 'two sets: searches meanwhile';
const FAILED = 'two sets: searches meanwhile that failed';
const SLOWEST = 'two sets: the slowest search meanwhile, ms';
const SERVES_AFTER = 'two sets: from the return of what was away until both serve, s';
const BEHIND = 'two sets: entries that the set was behind when it came back';
/** What the rest of a run is for. */
const SHARE_AWAY = 0.6;
const SEARCH_EVERY_MS = 500;
const SERVE_WITHIN_MS = 400_000;

/** Every search is answered while one of the sets is whole. */
const answered = (measures: Measures): readonly Violation[] => bounded(measures, FAILED, { most: 0 });

/** A scenario with three brokers and two sets, of which one serves at any time: searches go on from its beginning to its end. */
export function whileSearching(
  options: Pick<Scenario, 'name' | 'about' | 'sampleSeconds' | 'env'> & { readonly shards: 1 | 2 },
  run: (context: ScenarioContext) => Promise<void>,
): Scenario {
  const check: Parameters<typeof onThreeBrokers>[0]['check'] = (totals, measures) => [...staysUp(totals, measures), ...answered(measures)];
  return onThreeBrokers({ ...options, entriesPerSecond: ENTRIES_PER_SECOND, check }, async (context) => {
    const { cluster, measures, log } = context;
    await bothServe({ cluster, measures: new Measures() });
    const searching = new Searching(cluster);
    try {
      await run(context);
    } finally {
      await searching.stop();
    }
    measures.set(SEARCHES, searching.count);
    measures.set(FAILED, searching.failures.length);
    measures.set(SLOWEST, searching.slowestMs);
    for (const failure of searching.failures.slice(0, 10)) log(`a search failed: ${failure}`);
  });
}

/** Searches one after the other, as a client behind a balancer: where an API is not there, the other one is tried. */
class Searching {
  count = 0;
  slowestMs = 0;
  /** What was not answered by a third try. */
  readonly failures: string[] = [];
  #isOver = false;
  readonly #done: Promise<void>;

  constructor(cluster: Pick<Cluster, 'apis' | 'key'>) {
    this.#done = this.#run(cluster);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#done;
  }

  async #run({ apis, key }: Pick<Cluster, 'apis' | 'key'>): Promise<void> {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ query: '*', start: '-1h', limit: 10 });
    while (!this.#isOver) {
      const [turn, at] = [this.count++, Date.now()];
      const urlOf = (attempt: number): string => `${apis[(turn + attempt) % apis.length]?.appUrl ?? ''}/api/v1/tenants/1/search`;
      const outcome = await retried(urlOf, { method: 'POST', headers, body });
      this.slowestMs = Math.max(this.slowestMs, Date.now() - at);
      if (outcome.status !== 200) this.failures.push([...outcome.before, `${String(outcome.status)} ${outcome.body}`].join(', then '));
      await new Promise((resolve) => setTimeout(resolve, SEARCH_EVERY_MS));
    }
  }
}

/** Waits until both sets serve in each API process, and notes how long at most that took; throws where they do not within some minutes. */
export async function bothServe({ cluster, measures }: Pick<ScenarioContext, 'cluster' | 'measures'>): Promise<void> {
  const began = Date.now();
  const serves = (text: string, set: string): boolean => new RegExp(`^logweir_set_ready\\{[^}]*set="${set}"[^}]*\\} 1$`, 'm').test(text);
  for (;;) {
    const texts = await apiMetrics(cluster).catch(() => []);
    if (texts.length > 0 && texts.every((text) => serves(text, 'a') && serves(text, 'b'))) break;
    if (Date.now() - began > SERVE_WITHIN_MS) throw new Error(`Both sets do not serve after ${String(SERVE_WITHIN_MS)} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  measures.set(SERVES_AFTER, Math.max(measures.get(SERVES_AFTER) ?? 0, (Date.now() - began) / 1000));
}

export const clusterKillAClickHouse = whileSearching(
  {
    name: 'cluster-kill-a-clickhouse',
    about: 'SIGKILL of one of three ClickHouses, the first set or a shard of the second one; the next when both sets serve again.',
    shards: 2,
    sampleSeconds: 30,
  },
  async (context) => {
    const { cluster, random, counters, over, wait, log } = context;
    while (!over()) {
      await wait(1000 + random.below(4000));
      const name = random.pick(['clickhouse', ...SHARD_NAMES] as const);
      await cluster.process(name).kill();
      counters.add('kills of a ClickHouse of two sets');
      log(`killed ${name}`);
      await cluster.process(name).start();
      await bothServe(context);
    }
  },
);

export const clusterSetBehind = whileSearching(
  {
    name: 'cluster-set-behind',
    about: 'Both shards of the second set are stopped for most of the run; it catches up by itself.',
    shards: 2,
    sampleSeconds: 60,
  },
  async (context) => {
    const { cluster, counters, measures, load, seconds, wait, log } = context;
    const before = load.totals.ackedEntries;
    await Promise.all(SHARD_NAMES.map((name) => cluster.process(name).stop()));
    counters.add('outages of a set');
    log(`the set b is gone for ${(seconds * SHARE_AWAY).toFixed(0)} s`);
    await wait(seconds * SHARE_AWAY * 1000);
    await Promise.all(SHARD_NAMES.map((name) => cluster.process(name).start()));
    measures.set(BEHIND, load.totals.ackedEntries - before);
    await bothServe(context);
    await wait(Infinity);
  },
);
