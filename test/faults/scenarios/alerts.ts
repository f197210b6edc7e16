import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { HOST_NAMES } from '../cluster.ts';
import { replayFaults } from '../replay.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { python, type Recounted } from '../verdict.ts';
import { WatchedStreams, type Turn } from '../watched-streams.ts';
import { kindOf, someUp } from './victims.ts';

const MINUTE_MS = 60_000;
const PROGRAM = path.join(import.meta.dirname, '..', 'recount', 'rates.py');
/** From the day of past to what happens, and for how long that goes on; a run of less than ten minutes waits for no silence. */
const [CALM_MS, RISEN_MS, SILENT_MS, SHORT_MS] = [90_000, 5 * MINUTE_MS, 16 * MINUTE_MS, 2 * MINUTE_MS];
const LONG_S = 600;

/** Kills hosts for as long as something is to happen, and what is left of the kills that are asked for. */
async function killHosts({ cluster, random, counters, over, wait, log, ...context }: ScenarioContext): Promise<void> {
  while (!over()) {
    const [name] = await someUp({ cluster, random, counters, over, wait, log, ...context }, HOST_NAMES);
    if (name === undefined) return;
    await wait(100 + random.below(2900));
    if (over()) return;
    const gone = cluster.process(name).kill();
    counters.add(`kills of ${kindOf(name)}`);
    log(`killed ${name}`);
    await gone;
  }
}

/** Sixty streams with a day of past: most rise, some stop, while hosts of processors are killed. What is told must be what is told without kills. */
export const killHostWhileAlerting: Scenario = {
  name: 'kill-host-while-alerting',
  about: 'SIGKILL of one of two hosts of processors at a random moment, while sixty streams with a day of past rise or stop.',
  // its checks count the whole log, and take their time
  alone: true,
  sampleSeconds: 60,
  entriesPerSecond: 200,
  async run(context) {
    const { cluster, ledger, seconds, log, measures } = context;
    const streams = new WatchedStreams(cluster, ledger);
    const began = Date.now();
    const past = await streams.sendPast(began);
    log(`a day of ${String(past)} entries is sent`);
    measures.set('entries of the day before', past);
    const at = Date.now() + CALM_MS;
    const turn: Turn = { at, calmAt: at + RISEN_MS };
    const end = at + (seconds >= LONG_S ? SILENT_MS : SHORT_MS);
    const kills = killHosts(context);
    while (Date.now() < end) {
      await streams.send(Date.now(), turn);
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
    await kills;
  },
  async recount(cluster, measures) {
    const set = (name: string, value: number): void => {
      measures.set(name, value);
    };
    const replayed = await replayFaults(cluster, set);
    const file = path.join(cluster.dataDir, 'recount-rates.json');
    const config = JSON.parse(readFileSync(path.join(cluster.dataDir, 'recount.json'), 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...config, silent: 'stopping-' }), { mode: 0o600 });
    const { figures, violations } = JSON.parse(await python([PROGRAM, file])) as Recounted;
    for (const [name, value] of Object.entries(figures)) set(name, value ?? 0);
    return [...replayed, ...violations];
  },
};
