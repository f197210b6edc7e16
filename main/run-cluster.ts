import { Cluster } from './cluster/cluster.ts';
import { nodeCounts } from './cluster/plan.ts';
import { log, runInForeground } from './foreground.ts';
import { readSettings } from './settings.ts';

/** `npm run cluster` (docs/operations.md): a cluster on this machine, until a signal. Its data is in `data/cluster` unless told. */
export function runCluster(argv: readonly string[], parent: number): Promise<void> {
  const env: NodeJS.ProcessEnv = { LOGWEIR_DATA_DIR: './data/cluster', ...process.env };
  return runInForeground(() => new Cluster({ settings: readSettings(env, []), env, counts: nodeCounts(argv), log }), parent);
}
