import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ClickHouse } from '../../compose/embedded/clickhouse.ts';
import type { ClusterPlan } from './plan.ts';

type Variables = Readonly<Record<string, string>>;

/** What an operator may give otherwise. */
const DEFAULTS: Variables = { LOGWEIR_QUERY_WORKERS: '2', LOGWEIR_LOG_PARTITIONS: '4' };

/** The environment of all nodes: engines of the cluster, its secrets, and the loopback alone. `engines` are those of the plan's sets. */
export function clusterVariables(
  env: NodeJS.ProcessEnv,
  { dataDir, brokers }: ClusterPlan,
  secrets: Variables,
  engines: ReadonlyMap<string, ClickHouse>,
): NodeJS.ProcessEnv {
  const [first, ...others] = engines;
  if (first === undefined) throw new Error('BUG: a cluster without a set.');
  const [, { url, user, password, database, readerUser, readerPassword }] = first;
  return {
    ...DEFAULTS,
    ...env,
    ...secrets,
    LOGWEIR_HOST: '127.0.0.1',
    LOGWEIR_ADMIN_HOST: '127.0.0.1',
    LOGWEIR_KAFKA_BROKERS: brokers.map(({ ports: [port] }) => `127.0.0.1:${String(port)}`).join(','),
    LOGWEIR_KAFKA_DIR: dataDir,
    LOGWEIR_KAFKA_REPLICATION: '3',
    LOGWEIR_KAFKA_MIN_IN_SYNC: '2',
    LOGWEIR_CLICKHOUSE_URL: url,
    LOGWEIR_CLICKHOUSE_USER: user,
    LOGWEIR_CLICKHOUSE_PASSWORD: password,
    LOGWEIR_CLICKHOUSE_DATABASE: database,
    LOGWEIR_CLICKHOUSE_READER_USER: readerUser,
    LOGWEIR_CLICKHOUSE_READER_PASSWORD: readerPassword,
    LOGWEIR_CLICKHOUSE_SETS_FILE: writeSets(dataDir, others),
  };
}

/**
 * Writes DATA_DIR/cluster.env, with which programs that use the engines find them (`logweir audit`): lines for a shell or `node --env-file`,
 * readable by its owner alone.
 */
export function writeEnvironment(dataDir: string, env: NodeJS.ProcessEnv): void {
  const own = Object.entries(env).filter(([name]) => /^LOGWEIR_(KAFKA|CLICKHOUSE|KEY|ADMIN_TOKEN)/.test(name));
  const lines = [...own, ['LOGWEIR_DATA_DIR', dataDir] as const].map(([name, value = '']) => `${name}='${value}'\n`);
  writeFileSync(path.join(dataDir, 'cluster.env'), lines.join(''), { mode: 0o600 });
}

/** Writes the file of the further sets (docs/sets.md); its path. */
function writeSets(dataDir: string, sets: readonly (readonly [string, ClickHouse])[]): string {
  const file = path.join(dataDir, 'sets.json');
  const rows = sets.map(([name, engine]) => ({
    ...{ name, url: engine.url, user: engine.user, password: engine.password },
    ...{ reader_user: engine.readerUser, reader_password: engine.readerPassword },
  }));
  writeFileSync(file, `${JSON.stringify({ sets: rows })}\n`, { mode: 0o600 });
  return file;
}
