import { ConsumerLag } from '../../pipeline/bus/measured/consumer-lag.ts';
import { DeadLetters } from '../../pipeline/bus/dead-letters/dead-letters.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { RangeConsumer, type Expired } from '../../pipeline/bus/consumer/range-consumer.ts';
import { collectGarbage } from './garbage.ts';
import type { Metrics } from '../../pipeline/core/metrics.ts';
import { packageVersion } from '../../pipeline/core/package-root.ts';
import { together, type Service } from '../../pipeline/core/service.ts';
import { Store } from '../../pipeline/store/client.ts';
import { FailingInserts } from '../../sinks/failing-inserts.ts';
import { ReplayErasure } from '../../sinks/replay-erasure.ts';
import { TableWriter, type WriterMetrics } from '../../sinks/writer.ts';
import { signalsWith, sinksOf } from '../signals.ts';
import type { Role, RoleContext } from './role.ts';
import { sinkGroup } from './sink-group.ts';
import { SINK_PACE } from './sink-pace.ts';

/**
 * The budget for three or four ranges of 100,000 usual rows, 24 MB and their records' headers each: two are stored while the next are
 * gathered. On top come one fetch, 10 MB decompressed, and garbage: V8 lets 64 MiB of buffers become garbage before it looks.
 * So a process stays below 300 MiB. Sinks of topics with little on them hold less (`Sink.heldBytes`).
 */
const HELD_BYTES = 96_000_000;

const writerMetrics = (metrics: Metrics, failing: FailingInserts): WriterMetrics => ({
  outcome: (table, error) => {
    if (error === null) failing.stored(table);
    else failing.failed(table, error);
  },
  stored: (table, rows, bytes, seconds) => {
    metrics.batches.inc({ stage: 'insert' });
    metrics.storedRows.inc({ table }, rows);
    metrics.storedBytes.inc({ table }, bytes);
    metrics.insertSeconds.observe({ table }, seconds);
  },
});

/** Writes what is on the topics into ClickHouse, exactly once. */
export const sinkRole: Role = {
  async services(context: RoleContext): Promise<Service[]> {
    const { config, log, metrics } = context;
    const sinks = sinksOf(await signalsWith(config.signals.files));
    const failing = new FailingInserts({
      onChange: (table, isFailing) => {
        metrics.failingInserts.set({ table }, isFailing ? 1 : 0);
      },
    });
    context.registerWarning(() => failing.warning);
    const store = new Store(config.clickhouse);
    const kafka = createKafka({ ...config.kafka, clientId: 'logweir-sink', log });
    const deadLetters = new DeadLetters(kafka);
    const { deadLetterLimit } = config.sinks;
    const reportExpired = expiredReports(context, deadLetters);
    const consumers = sinks.map(
      (sink) =>
        new RangeConsumer({
          kafka,
          log: log.child({ component: `sink ${sink.name}` }),
          groupId: sinkGroup(sink.name),
          signal: sink.signal,
          limits: SINK_PACE,
          budget: sink.heldBytes ?? HELD_BYTES,
          onDrained: collectGarbage,
          store: new TableWriter({
            sink,
            store,
            log,
            mostRefused: deadLetterLimit + 1,
            metrics: writerMetrics(metrics, failing),
          }),
          onCrash: (error) => context.fail(error),
          onSilence: () => {
            metrics.givenUpCoordinators.inc({ group: sinkGroup(sink.name) });
          },
          deadLetterLimit,
          onExpired: (expired) => {
            reportExpired(expired, `sink ${sink.name}`);
          },
          deadLetter: async (batch) => {
            const stage = `sink ${sink.name}`;
            await deadLetters.write(
              batch.map((deadLetter) => ({ ...deadLetter, stage: `${stage}: ${deadLetter.stage}`, version: packageVersion() })),
            );
            for (const { topic, partition, offset, reason, detail } of batch) {
              metrics.deadLetters.inc({ topic, reason });
              log.error({ component: stage, topic, partition, offset, reason, detail }, 'A record became a dead letter.');
            }
          },
        }),
    );
    context.registerCheck('kafka', () => consumers.every((consumer) => consumer.joined));
    context.registerCheck('clickhouse', () => store.ping());
    context.registerCheck('dead letters', () => consumers.every((consumer) => consumer.halted.size === 0));
    const closing = { name: 'store', start: () => Promise.resolve(), stop: () => store.close() };
    // each leaves its group in a third of a second
    const erasure = new ReplayErasure({ store, log: log.child({ component: 'replay erasure' }) });
    return [closing, deadLetters, erasure, together('sinks', consumers), together('lags', lagsOf(consumers, kafka, metrics))];
  },
};

/** Watches how far each sink is behind. */
const lagsOf = (consumers: readonly RangeConsumer[], kafka: ReturnType<typeof createKafka>, metrics: Metrics): readonly Service[] =>
  consumers.map(
    (consumer) =>
      new ConsumerLag({
        kafka,
        ...consumer.group,
        partitions: () => consumer.assigned,
        onLag: (partition, lag) => metrics.lag.set({ topic: consumer.group.topic, partition: String(partition) }, lag),
        onDeleted: (partition) => metrics.lag.remove({ topic: consumer.group.topic, partition: String(partition) }),
      }),
  );

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
    counts.set(topic, (counts.get(topic) ?? 0) + records);
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
