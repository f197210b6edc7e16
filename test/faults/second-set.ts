import path from 'node:path';
import { ShardEngines } from '../e2e/shard-engines.ts';
import type { Launch } from './kept-process.ts';
import { SHARD_NAMES, type ShardName } from './shard-names.ts';

/** The second set of a cluster, `b`: each of its servers is a process of its own. */
export type SecondSet = {
  readonly engines: ShardEngines;
  readonly launches: ReadonlyMap<ShardName, Launch>;
  /** What names it to our processes, once its servers have run. Where one set has a reader, each must have one: this is that of the first. */
  variables(reader: { readonly readerUser: string; readonly readerPassword: string }): NodeJS.ProcessEnv;
};

/** Lays one out; `takePort` gives a port that is free. */
export async function secondSet(count: number, dataDir: string, takePort: () => number): Promise<SecondSet> {
  // backups of either set lie where the other one finds them
  const backups = { at: path.join(dataDir, 'backups'), accessKey: '', secretKey: '' };
  const places = { folder: path.join(dataDir, 'set-b'), backups };
  const engines = await ShardEngines.make(count, places);
  const launches = SHARD_NAMES.slice(0, count).map((name, index): [ShardName, Launch] => {
    const port = takePort();
    return [name, (onSpawn) => engines.start(index, port, onSpawn)];
  });
  let file: string | undefined;
  return {
    engines,
    launches: new Map(launches),
    variables: ({ readerUser, readerPassword }) => {
      file ??= engines.writeSets(engines.indexes);
      return {
        LOGWEIR_CLICKHOUSE_SETS_FILE: file,
        LOGWEIR_CLICKHOUSE_READER_USER: readerUser,
        LOGWEIR_CLICKHOUSE_READER_PASSWORD: readerPassword,
      };
    },
  };
}
