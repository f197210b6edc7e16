import type { ControlStore } from '../../api/control/control-store.ts';
import { serversFault } from '../../api/control/shard-map.ts';
import { DeadLetters } from '../../pipeline/bus/dead-letters/dead-letters.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import type { Expired } from '../../pipeline/bus/consumer/range-consumer.ts';
import type { StoreSet } from '../../pipeline/core/config-sets.ts';
import { storeUnavailable } from '../../pipeline/core/errors.ts';
import { packageVersion } from '../../pipeline/core/package-root.ts';
import { together, type Service } from '../../pipeline/core/service.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { shardIds } from '../../pipeline/store/front-tables.ts';
import { makeShardTables } from '../set-tables.ts';
import { signalsWith, sinksOf, type StoredSignal } from '../signals.ts';
import { createControlStore } from './control.ts';
import type { Role, RoleContext } from './role.ts';
import { setSinks, type SetSinks } from './set-sinks.ts';
import { WhenPossible } from './when-possible.ts';

/** Writes what is on the topics into the ClickHouse of each set, exactly once. */
export const sinkRole: Role = {
  async services(context: RoleContext): Promise<Service[]> {
    const { config, log } = context;
    const stored = await signalsWith(config.signals.files);
    const kafka = createKafka({ ...config.kafka, clientId: 'logweir-sink', log });
    const deadLetters = new DeadLetters(kafka);
    const onExpired = expiredReports(context, deadLetters);
    const written = config.sets.filter(({ name }) => config.sinks.sets.includes(name));
    // which partitions a shard has is known where there are any
    const control = written.some(({ shards }) => shards.length > 1) ? createControlStore(context) : null;
    const all = written.map((set, index) => {
      // what one set has is not known to be in another
      const sinks = sinksOf(stored).map((sink) => (index === 0 ? sink : (sink.fresh?.() ?? sink)));
      return { set, ...setSinks({ context, set, sinks, kafka, deadLetters, onExpired, among: written.length, control }) };
    });
    const waiting = config.sets.length === 1 && control === null ? [] : all.map((one) => whenPrepared(one, stored, context, control));
    const isStarted = (index: number): boolean => waiting[index]?.reason == null;
    context.registerCheck('kafka', () => all.every(({ consumers }, index) => !isStarted(index) || consumers.every(({ joined }) => joined)));
    // one set that is there is enough to go on
    context.registerCheck(
      'clickhouse',
      async () => all.length === 0 || (await Promise.all(all.map(({ stores }) => answer(stores)))).includes(true),
    );
    context.registerCheck('dead letters', () => all.every(({ consumers }) => consumers.every(({ halted }) => halted.size === 0)));
    const closing = all.flatMap(({ stores }) => stores).map((store) => ({ name: 'store', start: () => Promise.resolve(), stop: () => store.close() })); // prettier-ignore
    return [
      ...closing,
      deadLetters,
      ...(control === null ? [] : [control]),
      ...(waiting.length === 0 ? all.flatMap(({ services }) => services) : [together('sets', waiting)]),
    ];
  },
};

/** Whether all shards of a set answer. */
const answer = async (stores: readonly Store[]): Promise<boolean> =>
  (await Promise.all(stores.map((store) => store.ping()))).every(Boolean);

/** Sinks that wait for their set: what they write goes into tables of this version. */
function whenPrepared(
  { set, stores, services }: SetSinks & { readonly set: StoreSet },
  stored: readonly StoredSignal[],
  context: RoleContext,
  control: ControlStore | null,
): WhenPossible {
  const { name } = set;
  const sinks = new WhenPossible({
    ...{ name: `sinks of the set ${name}`, services, log: context.log.child({ component: 'sets' }) },
    prepare: async () => {
      if (!(await answer(stores))) throw storeUnavailable();
      for (const store of stores) await makeShardTables(set, store, { stored, cold: context.config.cold.tier });
      if (control !== null && stores.length > 1) await checkServers(name, stores, control);
    },
    onFailed: (error) => context.fail(error),
  });
  context.registerWarning(() => (sinks.reason === null ? null : `Nothing is stored in the set ${name}: ${sinks.reason}`));
  return sinks;
}

/** What a sink stores lies where it looks for what is stored: throws where the file names the shards otherwise than before. */
async function checkServers(set: string, stores: readonly Store[], control: ControlStore): Promise<void> {
  if (!control.ready) throw storeUnavailable();
  const fault = serversFault(control, set, await shardIds(stores));
  if (fault !== null) throw new Error(`it ${fault}`);
}

/** What becomes of records that have expired unread: a metric, a warning in `/ready`, and a dead letter, which the audit reads. */
function expiredReports(
  { log, metrics, registerWarning }: RoleContext,
  deadLetters: DeadLetters,
): (expired: Expired, stage: string) => void {
  const counts = new Map<string, number>();
  registerWarning(() => {
    const gaps = [...counts].map(([topic, records]) => `${String(records)} records of ${topic} have expired unread`);
    return gaps.length === 0 ? null : gaps.join(', ');
  });
  return ({ topic, partition, first, last }, stage) => {
    const records = last - first + 1;
    const of = stage.includes(' of ') ? `${topic} (${stage})` : topic;
    counts.set(of, (counts.get(of) ?? 0) + records);
    metrics.expired.inc({ topic }, records);
    const detail = `Kafka deleted the records ${String(first)} to ${String(last)} before they were stored.`;
    const original = { key: null, value: null, headers: {}, timestamp: String(Date.now()) };
    const deadLetter = {
      reason: 'expired',
      detail,
      stage,
      topic,
      partition,
      offset: first,
      last,
      version: packageVersion(),
      original,
    } as const;
    deadLetters.write([deadLetter]).catch((error: unknown) => {
      log.error({ err: error, topic, partition, first, last }, 'Writing expired records to the dead letters failed.');
    });
  };
}
