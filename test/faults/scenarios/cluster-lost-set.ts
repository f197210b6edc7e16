import { ROLE_NAMES } from '../cluster.ts';
import type { ScenarioContext } from '../scenario.ts';
import { bothServe, whileSearching } from './cluster-sets.ts';

const PLACE = 'of-the-first-set';
const REBUILT_AFTER = 'two sets: from the loss of a set until it serves again, s';

/** The second set has one server: backups are of sets without shards. */
export const clusterLoseASet = whileSearching(
  {
    name: 'cluster-lose-a-set',
    about:
      'SIGKILL of the ClickHouse of the second set, whose disk is lost; it is rebuilt from a backup of the first one, and the log, under load.',
    shards: 1,
    sampleSeconds: 30,
  },
  async (context) => {
    const { cluster, counters, measures, random, wait, log } = context;
    await wait(2000 + random.below(4000));
    log(`backup: ${(await cluster.command(['admin', 'backup', '--set', 'a', '--at', PLACE])).trim().split('\n').at(-1) ?? ''}`);
    await wait(2000 + random.below(4000));
    const server = cluster.process('clickhouse-b1');
    server.hold();
    await server.kill();
    cluster.shards.loseDisk(0);
    counters.add('losses of a set');
    const began = Date.now();
    log('the set b has lost its disk');
    // as docs/sets.md says
    await withVariables(context, { LOGWEIR_CLICKHOUSE_SETS_OUT: 'b' });
    await server.start();
    log(`restore: ${(await cluster.command(['admin', 'restore', '--set', 'b', '--at', PLACE])).trim().split('\n').at(-1) ?? ''}`);
    await withVariables(context, { LOGWEIR_CLICKHOUSE_SETS_OUT: '' });
    await bothServe(context);
    measures.set(REBUILT_AFTER, (Date.now() - began) / 1000);
    log('the set b serves again');
    await wait(Infinity);
  },
);

/** Starts each process of ours again with these variables, one after the other, each ready before the next. */
async function withVariables({ cluster, log }: ScenarioContext, variables: Readonly<Record<string, string>>): Promise<void> {
  cluster.setVariables(variables);
  for (const name of ROLE_NAMES) {
    const kept = cluster.process(name);
    await kept.kill('SIGTERM');
    await kept.start();
    while (!(await cluster.isReady(name))) await new Promise((resolve) => setTimeout(resolve, 200));
  }
  log(`every process has ${JSON.stringify(variables)}`);
}
