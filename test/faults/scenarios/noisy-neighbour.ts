import type { Cluster } from '../cluster.ts';
import type { Load, WatchedAttempt } from '../load.ts';
import type { Scenario } from '../scenario.ts';
import { bounded, percentile } from './measured.ts';
import { keepSearching, type SearchAnswer } from './searches.ts';
import { keepTailing } from './tails.ts';

/** Entries a second of the plan `trial`, which is what each quiet tenant offers; how many those are; and what the noisy one offers. */
const [PLAN_RATE, QUIET_TENANTS, NOISY_RATE] = [500, 10, 25_000] as const;
/** Entries of the noisy tenant's requests: more than five seconds of its plan. Smaller ones the contract always lets in. */
const NOISY_BATCH = [2600, 4000] as const;
/** New tenants are known everywhere, and what was just started has done its first work. */
const WARM_MS = 5000;
/** What is under way when a phase begins belongs to the one before. */
const SETTLE_MS = 2000;

const REFUSED = 'noisy neighbour: requests of the quiet tenants refused with 429';
const OFFERED = 'noisy neighbour: entries/s that the noisy tenant offered';
const TAKEN = 'noisy neighbour: entries of the noisy tenant acknowledged, % of the most that the contract lets in';
const TAILED = 'noisy neighbour: requests that came on the tail beside the noise, %';
const ratioOf = (what: string): string => `noisy neighbour: ${what} beside the noise, times that without it`;
const [ACK, SEARCH, TAIL] = ['p99 of acknowledgements', 'p95 of searches', 'p95 from acknowledgement to the tail'] as const;

/** From `from` to `to`, milliseconds since the epoch. */
type Phase = { readonly from: number; readonly to: number };
const within = ({ from, to }: Phase, at: number): boolean => at >= from && at < to;

/** A tenant on the plan `trial`; gives its key. */
async function makeTenant({ apis, adminToken }: Cluster, name: string): Promise<string> {
  const response = await fetch(`${apis[0]?.adminUrl ?? ''}/admin/tenants`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, plan: 'trial' }),
  });
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { readonly key: string }).key;
}

const isAcked = ({ status }: WatchedAttempt): boolean => status >= 200 && status < 300;

/** What the quiet tenants saw. `first`: of the first of them alone, who searches and follows its entries. */
type Seen = {
  readonly all: readonly WatchedAttempt[];
  readonly first: readonly WatchedAttempt[];
  readonly searches: readonly SearchAnswer[];
  readonly came: ReadonlyMap<string, number>;
};

/** Latencies of a phase, milliseconds, by what they are of, where there are any. */
function latencies({ all, first, searches, came }: Seen, phase: Phase): ReadonlyMap<string, number> {
  const acked = all.filter((attempt) => isAcked(attempt) && within(phase, attempt.at)).map(({ tookMs }) => tookMs);
  const answered = searches.filter(({ at, status }) => status === 200 && within(phase, at)).map(({ tookMs }) => tookMs);
  const tailed = first.flatMap(({ request, at }) => {
    const arrived = came.get(request);
    return arrived === undefined || !within(phase, at) ? [] : [Math.max(0, arrived - at)];
  });
  const figures = [
    [ACK, acked, 0.99],
    [SEARCH, answered, 0.95],
    [TAIL, tailed, 0.95],
  ] as const;
  return new Map(figures.flatMap(([what, values, at]) => (values.length === 0 ? [] : [[what, percentile(values, at)]])));
}

/** The share of the first tenant's acknowledged requests of a phase that came on the tail, percent. */
function percentTailed({ first, came }: Seen, phase: Phase): number {
  const acked = first.filter((attempt) => isAcked(attempt) && within(phase, attempt.at));
  return (100 * acked.filter(({ request }) => came.has(request)).length) / Math.max(1, acked.length);
}

/**
 * The most entries that a tenant can have taken within so many seconds by requests of more than 5 s of its plan's rate r. One is let in
 * while its bucket is not empty, and then takes 5 r from it at least: it had more than nothing, and may go down to -5 r. The bucket held 5 r at
 * the beginning, gets r a second and ends at -5 r at the lowest: so 2 + seconds / 5 requests. Each node has a bucket of its own, and what it
 * hears of the others' within a second only lowers it.
 */
const mostAllowed = (seconds: number, nodes: number): number => nodes * (2 + seconds / 5) * NOISY_BATCH[1];

export const noisyNeighbour: Scenario = {
  name: 'noisy-neighbour',
  about: `A tenant offers ${String(NOISY_RATE)} entries/s, fifty times what its plan allows, beside ${String(QUIET_TENANTS)} that offer what theirs allows.`,
  alone: true,
  entriesPerSecond: PLAN_RATE,
  sampleSeconds: 16,
  async run({ cluster, load, startLoad, startLoadProcess, counters, measures, seconds, wait, log }) {
    const phaseMs = Math.max(1000, (seconds * 1000 - WARM_MS - 2 * SETTLE_MS) / 2);
    const noisyKey = await makeTenant(cluster, 'noisy');
    const quiet: Load[] = [load];
    while (quiet.length < QUIET_TENANTS)
      quiet.push(startLoad({ key: await makeTenant(cluster, `quiet ${String(quiet.length)}`), entriesPerSecond: PLAN_RATE }));
    const [all, first]: [WatchedAttempt[], WatchedAttempt[]] = [[], []];
    const ends = quiet.map((one) => one.watch((attempt) => all.push(attempt)));
    ends.push(load.watch((attempt) => first.push(attempt)));
    const [searching, tailing] = [keepSearching(cluster), keepTailing(cluster)];
    await wait(WARM_MS);
    const alone = { from: Date.now(), to: 0 };
    await wait(phaseMs);
    alone.to = Date.now();
    const noise = startLoadProcess({ key: noisyKey, entriesPerSecond: NOISY_RATE, batch: NOISY_BATCH, once: true });
    counters.add('noisy neighbours');
    await wait(SETTLE_MS);
    const beside = { from: Date.now(), to: 0 };
    await wait(phaseMs);
    beside.to = Date.now();
    await noise.stop();
    const took = (Date.now() - alone.to) / 1000;
    // what was acknowledged last comes on the tail
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    await Promise.all([searching.stop(), tailing.stop()]);
    for (const end of ends) end();

    const seen: Seen = { all, first, searches: searching.answers, came: tailing.came };
    const [before, during] = [latencies(seen, alone), latencies(seen, beside)];
    for (const what of [ACK, SEARCH, TAIL]) {
      const [without, withNoise] = [before.get(what), during.get(what)];
      if (without === undefined || withNoise === undefined) continue;
      measures.set(`noisy neighbour: ${what} without the noise, ms`, without);
      measures.set(`noisy neighbour: ${what} beside it, ms`, withNoise);
      measures.set(ratioOf(what), withNoise / Math.max(1, without));
    }
    const inside = all.filter(({ at }) => within(beside, at));
    measures.set('noisy neighbour: requests of the quiet tenants beside the noise', inside.length);
    measures.set(REFUSED, inside.filter(({ status }) => status === 429).length);
    measures.set(
      'noisy neighbour: searches that were not answered with 200',
      searching.answers.filter(({ status }) => status !== 200).length,
    );
    measures.set(TAILED, percentTailed(seen, beside));
    const { ackedEntries, requests } = noise.totals ?? { ackedEntries: 0, requests: 0 };
    measures.set(OFFERED, (requests * (NOISY_BATCH[0] + NOISY_BATCH[1])) / 2 / took);
    measures.set('noisy neighbour: entries of the noisy tenant acknowledged, times its plan', ackedEntries / took / PLAN_RATE);
    measures.set(TAKEN, (100 * ackedEntries) / mostAllowed(took, cluster.apis.length));
    log(`the noisy tenant got ${String(ackedEntries)} entries in ${took.toFixed(0)} s`);
  },
  check: (_totals, measures) => [
    ...bounded(measures, REFUSED, { most: 0 }),
    ...[ACK, SEARCH, TAIL].flatMap((what) => bounded(measures, ratioOf(what), { most: 2 })),
    ...bounded(measures, TAILED, { least: 95 }),
    ...bounded(measures, OFFERED, { least: NOISY_RATE * 0.8 }),
    ...bounded(measures, TAKEN, { most: 100 }),
  ],
};
