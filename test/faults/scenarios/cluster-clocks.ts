import path from 'node:path';
import type { RoleName } from '../cluster.ts';
import { someUp } from './victims.ts';
import { whileSearching } from './cluster-sets.ts';

const OFF_MS = 600_000;
const MODULE = path.join(import.meta.dirname, '../other-clock.cjs');

/** The environment of a process whose clock is off by so much: with all its workers and children. */
const clockOff = (ms: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--require ${MODULE}`,
  FAULTS_CLOCK_OFF_MS: String(ms),
});

/** One of each kind is ahead or behind; what it leaves is taken up by one whose clock is right, and the other way round. */
export const clusterClocksOff = whileSearching(
  {
    name: 'cluster-clocks-off',
    about:
      'The clocks of an API process and of a host are 10 min ahead, that of a sink 10 min behind, while API processes, sinks and hosts are killed in turn.',
    shards: 2,
    sampleSeconds: 40,
    env: { 'api-2': clockOff(OFF_MS), 'sink-2': clockOff(-OFF_MS), 'host-2': clockOff(OFF_MS) },
  },
  async (context) => {
    const { cluster, random, counters, over, wait, log } = context;
    const kinds: readonly (readonly RoleName[])[] = [['sink-1', 'sink-2'], ['host-1', 'host-2'], ['api-1', 'api-2']]; // prettier-ignore
    counters.add('clocks that are off by 10 min', 3);
    for (let turn = 0; !over(); turn++) {
      await wait(1000 + random.below(4000));
      const [victim] = await someUp(context, kinds[turn % kinds.length] ?? []);
      if (victim === undefined) return;
      await cluster.process(victim).kill();
      counters.add('kills beside clocks that are off');
      log(`killed ${victim}`);
      await cluster.process(victim).start();
    }
  },
);
