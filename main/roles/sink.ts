import type { ControlStore } from '../../api/control/control-store.ts';
import { claimServer } from '../../api/control/set-servers.ts';
import { DeadLetters } from '../../pipeline/bus/dead-letters/dead-letters.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import type { Expired } from '../../pipeline/bus/consumer/range-consumer.ts';
import type { StoreSet } from '../../pipeline/core/config-sets.ts';
import { storeUnavailable } from '../../pipeline/core/errors.ts';
import { packageVersion } from '../../pipeline/core/package-root.ts';
import { together, type Service } from '../../pipeline/core/service.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { makeShardTables } from '../set-tables.ts';
import { signalsWith, sinksOf, type StoredSignal } from '../signals.ts';
import { createControlStore } from './control.ts';
import type { Role, RoleContext } from './role.ts';
import { assertServers, idsOf, ServersWatch } from './set-servers.ts';
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
    // the servers of sets are known where there are several
    const isAlone = config.sets.length === 1 && config.sets.every(({ shards }) => shards.length === 1);
    const control = isAlone ? null : createControlStore(context);
    const all = written.map((set, index) => {
      // what one set has is not known to be in another
      const sinks = sinksOf(stored).map((sink) => (index === 0 ? sink : (sink.fresh?.() ?? sink)));
      return { set, ...setSinks({ context, set, sinks, kafka, deadLetters, onExpired, among: written.length, control }) };
    });
    const waiting = control === null ? [] : all.map((one) => whenPrepared(one, stored, context, control));
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
      ...(control === null ? all.flatMap(({ services }) => services) : [control, together('sets', waiting)]),
    ];
  },
};

/** Whether all shards of a set answer. */
const answer = async (stores: readonly Store[]): Promise<boolean> =>
  (await Promise.all(stores.map((store) => store.ping()))).every(Boolean);

/** Sinks that wait for their set: what they write goes into tables of this version, in the servers that have what is committed. */
function whenPrepared(
  { set, stores, services }: SetSinks & { readonly set: StoreSet },
  stored: readonly StoredSignal[],
  context: RoleContext,
  control: ControlStore,
): WhenPossible {
  const { name } = set;
  const log = context.log.child({ component: 'sets' });
  const isOneOfSeveral = context.config.sets.length > 1;
  const servers = { set, stores, control };
  const watch = new ServersWatch({ servers, log, onFault: (error) => context.fail(error) });
  const sinks = new WhenPossible({
    ...{ name: `sinks of the set ${name}`, services: [watch, ...services], log },
    prepare: async () => {
      if (!(await answer(stores))) throw storeUnavailable();
      // before tables are made: a restore replaces those of a server that has lost them
      await assertServers(servers);
      for (const store of stores) await makeShardTables(set, store, { stored, cold: context.config.cold.tier, isOneOfSeveral });
      const [id, ...others] = await idsOf(stores);
      // of shards those are known that have partitions
      if (id !== undefined && others.length === 0) await claimServer(control, name, id);
    },
    onFailed: (error) => context.fail(error),
  });
  context.registerWarning(() => (sinks.reason === null ? null : `Nothing is stored in the set ${name}: ${sinks.reason}`));
  return sinks;
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
