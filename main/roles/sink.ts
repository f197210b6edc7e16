import { DeadLetters } from '../../pipeline/bus/dead-letters/dead-letters.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import type { Expired } from '../../pipeline/bus/consumer/range-consumer.ts';
import { storeUnavailable } from '../../pipeline/core/errors.ts';
import { packageVersion } from '../../pipeline/core/package-root.ts';
import { together, type Service } from '../../pipeline/core/service.ts';
import { makeTables, signalsWith, sinksOf, type StoredSignal } from '../signals.ts';
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
    const all = written.map((set, index) => {
      // what one set has is not known to be in another
      const sinks = sinksOf(stored).map((sink) => (index === 0 ? sink : (sink.fresh?.() ?? sink)));
      return { set, ...setSinks({ context, set, sinks, kafka, deadLetters, onExpired, among: written.length }) };
    });
    const waiting = config.sets.length === 1 ? [] : all.map((one) => whenPrepared(one.set.name, one, stored, context));
    const isStarted = (index: number): boolean => waiting[index]?.reason == null;
    context.registerCheck('kafka', () => all.every(({ consumers }, index) => !isStarted(index) || consumers.every(({ joined }) => joined)));
    // one set that is there is enough to go on
    context.registerCheck(
      'clickhouse',
      async () => all.length === 0 || (await Promise.all(all.map(({ store }) => store.ping()))).includes(true),
    );
    context.registerCheck('dead letters', () => all.every(({ consumers }) => consumers.every(({ halted }) => halted.size === 0)));
    const closing = all.map(({ store }) => ({ name: 'store', start: () => Promise.resolve(), stop: () => store.close() }));
    return [...closing, deadLetters, ...(waiting.length === 0 ? all.flatMap(({ services }) => services) : [together('sets', waiting)])];
  },
};

/** Sinks that wait for their set: what they write goes into tables of this version. */
function whenPrepared(name: string, { store, services }: SetSinks, stored: readonly StoredSignal[], context: RoleContext): WhenPossible {
  const sinks = new WhenPossible({
    ...{ name: `sinks of the set ${name}`, services, log: context.log.child({ component: 'sets' }) },
    prepare: async () => {
      if (!(await store.ping())) throw storeUnavailable();
      await makeTables(store, stored);
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
