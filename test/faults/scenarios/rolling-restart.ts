import { ROLE_NAMES } from '../cluster.ts';
import type { Scenario } from '../scenario.ts';
import { allChecks, delivered, noCutRequests } from './checks.ts';

/** Every process of ours, one after the other, each ready before the next; round after round, for as long as there is time. */
export const rollingRestart: Scenario = {
  name: 'rolling-restart',
  about: 'SIGTERM of each of our processes in turn, each ready again before the next.',
  sampleSeconds: 8,
  env: { 'api-1': { LOGWEIR_DRAIN_SECONDS: '3' }, 'api-2': { LOGWEIR_DRAIN_SECONDS: '3' } },
  async run({ cluster, counters, over, log }) {
    for (let turn = 0; !over(); turn++) {
      const name = ROLE_NAMES[turn % ROLE_NAMES.length] ?? 'api-1';
      const began = Date.now();
      await cluster.process(name).kill('SIGTERM');
      const stopped = Date.now() - began;
      await cluster.untilReady();
      counters.add('restarts');
      log(`restarted ${name}: ended after ${String(stopped)} ms, all ready after ${String(Date.now() - began)} ms`);
    }
  },
  check: allChecks(noCutRequests, delivered),
};
