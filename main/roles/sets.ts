import type { ControlStore } from '../../api/control/control-store.ts';
import { SetEngine } from '../../api/engine/set-engine.ts';
import { QueryPool } from '../../api/engine/workers/query-pool.ts';
import type { QueryEngine } from '../../api/query/engine.ts';
import type { LogCover } from '../../api/query/log-cover.ts';
import { AdminConnection } from '../../pipeline/bus/connection/admin-connection.ts';
import { DeadLetters } from '../../pipeline/bus/dead-letters/dead-letters.ts';
import { ExpiredStages } from '../../pipeline/bus/dead-letters/expired-stages.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { LogBehind } from '../../pipeline/bus/measured/log-behind.ts';
import { boundsOf } from '../../pipeline/bus/reading/group-positions.ts';
import { DEAD_LETTER_TOPIC } from '../../pipeline/bus/records/topics.ts';
import type { StoreSet } from '../../pipeline/core/config-sets.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { Store } from '../../pipeline/store/client.ts';
import { clusterFault } from '../../pipeline/store/front-tables.ts';
import { serverIds } from '../../pipeline/store/server-id.ts';
import { limitsFault } from '../../pipeline/store/shard-limits.ts';
import { SetWatch, type SetPlace, type WatchedShards } from '../../pipeline/store/set-watch.ts';
import { sinksOf, type StoredSignal } from '../signals.ts';
import type { RoleContext } from './role.ts';
import { setServersFault } from './set-servers.ts';
import { sinkGroup, stageOf } from './sink-group.ts';

/** How long Kafka may take to return where sets stand. Milliseconds. */
const DEADLINE_MS = 10_000;

/** A set that a process reads. */
export type ReadSet = StoreSet & {
  /** What its queries go to. */
  readonly store: Store;
  /** What its owner's statements go to: each shard by itself. */
  readonly owned: readonly Store[];
};

/** The sets as a process reads them. */
export type ReadSets = {
  readonly all: readonly ReadSet[];
  /** Every shard of every set, as its owner sees it. */
  readonly stores: readonly Store[];
  /** Each set as its owner sees it: the rows of all its shards, one shard after the other. */
  readonly whole: readonly Pick<Store, 'ownerRows'>[];
  /** Which of them serve; null where there is only one, of one shard. */
  readonly watch: SetWatch | null;
  /** For a read outside of a query: where the set that serves is unavailable, another one is read. */
  readonly any: Pick<Store, 'ownerRows'>;
  /** Whether one of them serves; of the only one, whether it answers. */
  readonly serves: () => boolean | Promise<boolean>;
  /** The set that the next query looks at. */
  readonly current: () => string;
  /** Runs queries in processes of their own. */
  readonly pool: (workers: number, component: string) => QueryPool;
  /** Chooses the set of each query that goes to the pool; `covers`: how far each set is counted. */
  readonly over: (pool: QueryPool, covers?: ReadonlyMap<string, LogCover>) => QueryEngine;
  /** In their order. */
  readonly services: readonly Service[];
};

/** Opens all sets for reading; where there are several, they are watched once the services have started. */
export function readSets(context: RoleContext, stored: readonly StoredSignal[], control: ControlStore): ReadSets {
  const { config, log, metrics } = context;
  const all = config.sets.map(opened);
  const [first] = all;
  if (first === undefined) throw new Error('BUG: There is no set.');
  const watched = all.length === 1 && first.shards.length === 1 ? null : watchOver(context, all, stored, control);
  const watch = watched?.watch ?? null;
  return {
    ...{ all, stores: all.flatMap(({ owned }) => owned), whole: all.map(wholeOf) },
    ...{ watch, any: watch === null ? first.store : anyOf(all, watch) },
    serves: () => (watch === null ? first.store.ping() : watch.ready.length > 0),
    current: () => (watch === null ? first.name : (watch.ready[0] ?? first.name)),
    pool: (workers, component) =>
      new QueryPool({
        ...{ clickhouse: first.clickhouse, limits: config.limits, workers, log: log.child({ component }) },
        ...(watch === null ? { store: first.store } : { store: statementsOf(all), sets: config.sets }),
        onLost: (why) => {
          metrics.lostWorkers.inc({ why });
        },
      }),
    over: (pool, covers) => {
      const onBegun = (set: string): void => metrics.setQueries.inc({ set });
      return watch === null ? pool : new SetEngine({ engine: pool, watch, onBegun, ...(covers === undefined ? {} : { covers }) });
    },
    services: [{ name: 'stores', start: () => Promise.resolve(), stop: () => closed(all) }, ...(watched?.services ?? [])],
  };
}

function opened(set: StoreSet): ReadSet {
  const owned = set.shards.map((shard) => new Store(shard));
  const [only] = owned;
  return { ...set, owned, store: owned.length === 1 && only !== undefined ? only : new Store(set.clickhouse) };
}

const wholeOf = ({ owned }: ReadSet): Pick<Store, 'ownerRows'> => ({
  ownerRows: async (...given) => (await Promise.all(owned.map((store) => store.ownerRows(...given)))).flat(),
});

const closed = async (all: readonly ReadSet[]): Promise<void> =>
  void (await Promise.all([...new Set(all.flatMap(({ store, owned }) => [store, ...owned]))].map((store) => store.close())));

/** Which sets serve, with the services that this takes. */
function watchOver(
  { config, log, metrics, registerWarning }: RoleContext,
  all: readonly ReadSet[],
  stored: readonly StoredSignal[],
  control: ControlStore,
): { readonly watch: SetWatch; readonly services: readonly Service[] } {
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-sets', log });
  const admin = new AdminConnection(kafka, DEADLINE_MS);
  const sinks = sinksOf(stored);
  const groups = all.flatMap(({ name: set }) =>
    sinks.map(({ name, signal }) => ({ set, topic: signal.topic.name, groupId: sinkGroup(name, set) })),
  );
  const expired = new ExpiredStages({
    deadLetters: new DeadLetters(kafka),
    end: () => admin.query(async (open) => (await boundsOf(open, DEAD_LETTER_TOPIC)).get(0)?.end ?? 0),
  });
  const behind = new LogBehind(groups);
  const watch = new SetWatch({
    sets: all.map((set) => {
      const { name, store, isWhole, clickhouse, owned } = set;
      const shards = watchedShards(set);
      const serversFault = (signal: AbortSignal): Promise<string | null> => setServersFault({ set, stores: owned, control }, signal);
      return {
        ...{ name, store, isWhole, serversFault, hasReader: clickhouse.readerUser !== clickhouse.user },
        ...(shards === null ? {} : { shards }),
      };
    }),
    places: async () => {
      // read from the beginning at first, which nothing waits for
      expired.look().catch(() => undefined);
      return withExpired(await admin.query((open) => behind.look(open)), all, sinks, expired.topics);
    },
    log: log.child({ component: 'sets' }),
    onLook: (states) => {
      for (const { name: set, isReady, behindMs } of states) {
        metrics.setReady.set({ set }, isReady ? 1 : 0);
        metrics.setBehind.set({ set }, behindMs / 1000);
      }
      metrics.missingRowPolicies.set(states.reduce((sum, { unguarded }) => sum + unguarded.length, 0));
    },
  });
  registerWarning(() => watch.warning);
  const connection = { name: 'places of sets', start: () => Promise.resolve(), stop: () => admin.disconnect() };
  return { watch, services: [connection, watch] };
}

/** Places with what sinks of sets have missed by dead letters, which count until an operator says that the set is whole again. */
function withExpired(
  places: ReadonlyMap<string, SetPlace>,
  all: readonly ReadSet[],
  sinks: readonly { readonly name: string }[],
  topics: ReadonlyMap<string, string>,
): ReadonlyMap<string, SetPlace> {
  return new Map(
    [...places].map(([set, place]) => {
      const isWhole = all.some(({ name, isWhole: declared }) => name === set && declared);
      const missed = isWhole ? undefined : sinks.map(({ name }) => topics.get(stageOf(name, set))).find((topic) => topic !== undefined);
      return [set, { ...place, missed: place.missed ?? missed ?? null }];
    }),
  );
}

/** The shards of a set as they are watched; null where there is one. */
function watchedShards({ owned, clickhouse: { front } }: ReadSet): WatchedShards | null {
  if (front === undefined) return null;
  return {
    all: owned,
    fault: async (signal) => (await clusterFault(owned, await serverIds(owned, signal), front, signal)) ?? limitsFault(owned, signal),
  };
}

const anyOf = (all: readonly ReadSet[], watch: SetWatch): ReadSets['any'] => ({
  ownerRows: (...given) =>
    watch.first((name) => {
      const set = all.find((one) => one.name === name);
      if (set === undefined) throw new Error(`BUG: There is no set ${name}.`);
      return wholeOf(set).ownerRows(...given);
    }),
});

/** What runs in all sets: of one that is unavailable nothing is known, and nothing is ended. */
const statementsOf = (all: readonly ReadSet[]): Pick<Store, 'endMarked' | 'runningStatements'> => ({
  // what one shard has sent to others ends there with it
  endMarked: async (mark) => void (await Promise.all(all.map(({ store }) => store.endMarked(mark)))),
  runningStatements: async () => {
    const found = await Promise.allSettled(
      all.flatMap(({ store, owned }) => [store, ...owned.slice(1)]).map((store) => store.runningStatements()),
    );
    return found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  },
});
