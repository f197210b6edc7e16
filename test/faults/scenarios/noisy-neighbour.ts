import type { Cluster } from '../cluster.ts';
import type { WatchedAttempt } from '../load.ts';
import type { Scenario } from '../scenario.ts';
import { bounded, percentile } from './measured.ts';

/** Entries a second: of the quiet tenant; of the noisy one's plan; and of what it offers, fifty times that. */
const [QUIET_RATE, PLAN_RATE, NOISY_RATE] = [1000, 500, 25_000] as const;
/** Entries of its requests: more than five seconds of its plan, which the contract always lets in. */
const NOISY_BATCH = [2600, 4000] as const;
/** What is under way when a phase begins belongs to the one before. */
const SETTLE_MS = 2000;

const REFUSED = 'noisy neighbour: requests of the quiet tenant refused with 429';
const RATIO = 'noisy neighbour: p99 of the quiet tenant, times that without the noise';
const TAKEN = 'noisy neighbour: entries of the noisy tenant acknowledged, times its plan';

/** A tenant on the plan `trial`, and its key. */
async function makeTenant({ apis, adminToken }: Cluster): Promise<string> {
  const response = await fetch(`${apis[0]?.adminUrl ?? ''}/admin/tenants`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'noisy', plan: 'trial' }),
  });
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { readonly key: string }).key;
}

const p99 = (attempts: readonly WatchedAttempt[]): number =>
  percentile(
    attempts.filter(({ status }) => status >= 200 && status < 300).map(({ tookMs }) => tookMs),
    0.99,
  );

export const noisyNeighbour: Scenario = {
  name: 'noisy-neighbour',
  about: `A tenant offers ${String(NOISY_RATE)} entries/s, fifty times what its plan allows, beside one that stays within its own.`,
  alone: true,
  entriesPerSecond: QUIET_RATE,
  sampleSeconds: 20,
  async run({ cluster, load, startLoad, counters, measures, seconds, wait, log }) {
    let attempts: WatchedAttempt[] = [];
    const end = load.watch((attempt) => attempts.push(attempt));
    const key = await makeTenant(cluster);
    await wait(SETTLE_MS);
    attempts = [];
    await wait(seconds * 400);
    const alone = p99(attempts);
    const noise = startLoad({ key, entriesPerSecond: NOISY_RATE, batch: NOISY_BATCH });
    counters.add('noisy neighbours');
    const began = Date.now();
    await wait(SETTLE_MS);
    attempts = [];
    await wait(seconds * 500);
    const beside = attempts;
    noise.setRate(0);
    const took = (Date.now() - began) / 1000;
    end();
    measures.set('noisy neighbour: p99 of the quiet tenant alone, ms', alone);
    measures.set('noisy neighbour: p99 of the quiet tenant beside the noise, ms', p99(beside));
    measures.set(RATIO, p99(beside) / Math.max(1, alone));
    measures.set('noisy neighbour: requests of the quiet tenant', beside.length);
    measures.set(REFUSED, beside.filter(({ status }) => status === 429).length);
    measures.set(TAKEN, noise.totals.ackedEntries / took / PLAN_RATE);
    measures.set('noisy neighbour: attempts of the noisy tenant that were refused', noise.totals.attempts.rejected);
    log(`the noisy tenant got ${String(noise.totals.ackedEntries)} entries in ${took.toFixed(0)} s`);
  },
  check: (_totals, measures) => [
    ...bounded(measures, REFUSED, { most: 0 }),
    ...bounded(measures, RATIO, { most: 2 }),
    // its burst of five seconds comes on top
    ...bounded(measures, TAKEN, { most: 3 }),
  ],
};
