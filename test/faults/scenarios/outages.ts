import type { Scenario, ScenarioContext } from '../scenario.ts';
import { caughtUp, entriesPerSecond, rowsAt } from './catch-up.ts';
import { allChecks, delivered, slowRefusals } from './checks.ts';
import { bounded } from './measured.ts';
import { watchAnswers } from './refusals.ts';
import { keepSearching } from './searches.ts';
import { sinkMembers } from './sink-members.ts';
import { within } from './victims.ts';

/** What the rest of a run is for. */
const SHARE_DOWN = 0.7;
const RESUME_MS = 120_000;

/** Keeps an engine away for most of the run; it is up again when this resolves. */
async function outage({ cluster, counters, seconds, log, wait }: ScenarioContext, engine: 'kafka' | 'clickhouse'): Promise<number> {
  const kept = cluster.process(engine);
  kept.hold();
  await kept.kill();
  counters.add(`outages of ${engine}`);
  log(`${engine} is gone for ${(seconds * SHARE_DOWN).toFixed(0)} s`);
  await wait(seconds * SHARE_DOWN * 1000);
  await kept.start();
  return Date.now();
}

const FACTOR = 'ClickHouse outage: rows stored while catching up, of those acknowledged meanwhile';
const ACKED_SHARE = 'ClickHouse outage: acknowledgements per second, % of those before';
const ODD_SEARCHES = 'ClickHouse outage: searches that were not answered with 503 or 504';
const REJOINED = "ClickHouse outage: members of the sinks' group that changed";

export const clickhouseOutage: Scenario = {
  name: 'clickhouse-outage',
  about: 'ClickHouse is killed and stays away for most of the run.',
  sampleSeconds: 12,
  async run(context) {
    const { cluster, load, measures, log, seconds } = context;
    // what an earlier scenario has left broken would be measured too
    await cluster.untilReady();
    const before = Date.now();
    await context.wait(seconds * 100);
    const members = await sinkMembers(cluster);
    const began = Date.now();
    const searches = keepSearching(cluster);
    const back = await outage(context, 'clickhouse');
    await searches.stop();
    const changed = (await sinkMembers(cluster)).filter((member) => !members.includes(member));
    measures.set(REJOINED, changed.length);
    // the first ones may have been under way when it died
    const during = searches.answers.filter(({ at, tookMs }) => at > began + 2000 && at + tookMs < back - 3000);
    measures.set(ODD_SEARCHES, during.filter(({ status }) => status !== 503 && status !== 504).length);
    measures.set('ClickHouse outage: searches answered with 503 or 504', during.length);
    measures.set('ClickHouse outage: the slowest such answer, ms', Math.max(0, ...during.map(({ tookMs }) => tookMs)));
    measures.set(ACKED_SHARE, (100 * entriesPerSecond(context, began, back)) / entriesPerSecond(context, before, began));
    const end = await caughtUp(context, back);
    measures.set('ClickHouse outage: from its return until all is stored, s', (end - back) / 1000);
    measures.set('ClickHouse outage: seconds away', (back - began) / 1000);
    const stored = rowsAt(context, end) - rowsAt(context, back);
    measures.set('ClickHouse outage: rows stored per second while catching up', (1000 * stored) / (end - back));
    measures.set(FACTOR, stored / Math.max(1, entriesPerSecond(context, back, end) * ((end - back) / 1000)));
    log(
      `caught up ${((end - back) / 1000).toFixed(1)} s after ClickHouse was back; ${String(load.totals.ackedEntries)} entries acknowledged`,
    );
  },
  check: (totals, measures) => [
    ...allChecks(slowRefusals, delivered)(totals),
    ...bounded(measures, FACTOR, { least: 3 }),
    ...bounded(measures, ACKED_SHARE, { least: 90 }),
    ...bounded(measures, ODD_SEARCHES, { most: 0 }),
    ...bounded(measures, REJOINED, { most: 0 }),
  ],
};

const FIRST_REFUSAL = 'Kafka outage: from its end to the first 429, ms';
const SLOWEST_REFUSAL = 'Kafka outage: the slowest refusal, ms';
const RESUMED = 'Kafka outage: from its return to the first acknowledgement, ms';

export const kafkaOutage: Scenario = {
  name: 'kafka-outage',
  about: 'The only broker is killed and stays away for most of the run.',
  sampleSeconds: 12,
  async run(context) {
    const { cluster, load, measures, seconds, log } = context;
    await cluster.untilReady();
    await context.wait(seconds * 100);
    const watched = watchAnswers(load);
    const began = Date.now();
    const back = await outage(context, 'kafka');
    const resumed = await within(RESUME_MS, () => watched.firstAckAfter(back) !== undefined);
    watched.end();
    const first = watched.refusals[0]?.at;
    if (first !== undefined) measures.set(FIRST_REFUSAL, first - began);
    measures.set(SLOWEST_REFUSAL, Math.max(0, ...watched.refusals.map(({ tookMs }) => tookMs)));
    for (const slug of new Set(watched.refusals.map((refusal) => refusal.slug)))
      measures.set(`Kafka outage: refusals ${slug}`, watched.refusals.filter((refusal) => refusal.slug === slug).length);
    const resumedAt = watched.firstAckAfter(back);
    if (resumed && resumedAt !== undefined) measures.set(RESUMED, resumedAt - back);
    measures.set('Kafka outage: seconds away', (back - began) / 1000);
    log(`acknowledged again ${String((resumedAt ?? 0) - back)} ms after Kafka was back`);
  },
  check: (totals, measures) => [
    ...slowRefusals(totals),
    ...bounded(measures, FIRST_REFUSAL, { most: 5500 }),
    ...bounded(measures, SLOWEST_REFUSAL, { most: 6000 }),
    ...bounded(measures, RESUMED, { most: 30_000 }),
  ],
};
