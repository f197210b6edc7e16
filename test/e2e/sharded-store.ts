import { Store } from '../../pipeline/store/client.ts';
import { makeFrontTables } from '../../pipeline/store/front-tables.ts';
import { migrate } from '../../pipeline/store/migrations.ts';
import { LogsqlStore } from './logsql-store.ts';
import { ShardEngines, clusterOf } from './shard-engines.ts';

/** The same as one store, of two shards: every second entry lies in the other one. */
export class ShardedStore extends LogsqlStore {
  readonly engines: ShardEngines;
  readonly shards: readonly Store[];
  #rows = 0;

  private constructor(engines: ShardEngines, shards: readonly Store[], front: Store) {
    super(engines.at(0), front);
    this.engines = engines;
    this.shards = shards;
  }

  static override async start(): Promise<ShardedStore> {
    const engines = await ShardEngines.start(2);
    const access = [0, 1].map((index) => {
      const { url, user, password, database, readerUser, readerPassword } = engines.at(index);
      return { url, user, password, database, readerUser, readerPassword };
    });
    const shards = access.map((one) => new Store(one));
    for (const store of shards) {
      await migrate(store);
      await makeFrontTables(store, 'logweir_shards', clusterOf(2));
    }
    const [first] = access;
    if (first === undefined) throw new Error('There is no shard.');
    return new ShardedStore(engines, shards, new Store({ ...first, front: 'logweir_shards' }));
  }

  protected override async put(table: 'logs' | 'streams', lines: readonly string[]): Promise<void> {
    for (const [index, shard] of this.shards.entries())
      // as sinks do, each shard has the streams of its own entries
      await super.put(table, table === 'streams' ? lines : lines.filter((_line, at) => (this.#rows + at) % 2 === index), shard);
    if (table === 'logs') this.#rows += lines.length;
  }

  /** Every second row of a table goes to the other shard. */
  override async spread(table: string): Promise<void> {
    const moved = `kafka_idx % 2 = 1`;
    await this.engines.move(table, moved);
  }

  override async stop(): Promise<void> {
    await Promise.all([this.store, ...this.shards].map((store) => store.close()));
    await this.engines.stop();
  }
}
