import type { ControlStore } from '../../api/control/control-store.ts';
import { ConsumerLag } from '../../pipeline/bus/measured/consumer-lag.ts';
import type { DeadLetters } from '../../pipeline/bus/dead-letters/dead-letters.ts';
import type { Kafka } from '../../pipeline/bus/connection/kafka.ts';
import { RangeConsumer, type Expired } from '../../pipeline/bus/consumer/range-consumer.ts';
import type { StoreSet } from '../../pipeline/core/config-sets.ts';
import type { Metrics } from '../../pipeline/core/metrics.ts';
import { packageVersion } from '../../pipeline/core/package-root.ts';
import { together, type Service } from '../../pipeline/core/service.ts';
import { Store } from '../../pipeline/store/client.ts';
import type { RangeStore } from '../../pipeline/bus/consumer/range.ts';
import { FailingInserts } from '../../sinks/failing-inserts.ts';
import { ReplayErasure } from '../../sinks/replay-erasure.ts';
import { ShardedWriter } from '../../sinks/sharded-writer.ts';
import type { Sink } from '../../sinks/sink.ts';
import { TableWriter, type WriterMetrics } from '../../sinks/writer.ts';
import { collectGarbage } from './garbage.ts';
import type { RoleContext } from './role.ts';
import { setShards } from './set-shards.ts';
import { sinkGroup, stageOf } from './sink-group.ts';
import { SINK_PACE } from './sink-pace.ts';

/**
 * The budget for three or four ranges of 100,000 usual rows, 24 MB and their records' headers each: two are stored while the next are
 * gathered. On top come one fetch, 10 MB decompressed, and garbage: V8 lets 64 MiB of buffers become garbage before it looks.
 * So a process stays below 300 MiB. Sinks of topics with little on them hold less (`Sink.heldBytes`); where a process
 * writes several sets, they share what one would hold.
 */
const HELD_BYTES = 96_000_000;

/** The label of a set on series; none where there is only one set. */
type Label = { readonly set?: string };

export type SetSinksOptions = {
  readonly context: RoleContext;
  readonly set: StoreSet;
  readonly sinks: readonly Sink[];
  readonly kafka: Kafka;
  readonly deadLetters: DeadLetters;
  /** Is given records that have expired unread, and by which sink. */
  readonly onExpired: (expired: Expired, stage: string) => void;
  /** How many sets this process writes: they share what one would hold. */
  readonly among: number;
  /** What is known of shards; null where no set has several. */
  readonly control: ControlStore | null;
};

/** What fills a set: the stores of its shards, and its services in their order. */
export type SetSinks = {
  readonly stores: readonly Store[];
  readonly consumers: readonly RangeConsumer[];
  readonly services: readonly Service[];
};

/** The sinks of one set: consumer groups, budgets and knowledge of their own, so that no set waits for another. */
export function setSinks(options: SetSinksOptions): SetSinks {
  const { context, set, sinks, kafka, control } = options;
  const { config, log, metrics } = context;
  const isOne = config.sets.length === 1;
  const label: Label = isOne ? {} : { set: set.name };
  const failing = new FailingInserts({
    onChange: (table, isFailing) => {
      metrics.failingInserts.set({ table, ...label }, isFailing ? 1 : 0);
    },
  });
  context.registerWarning(() => (failing.warning === null || isOne ? failing.warning : `The set ${set.name}: ${failing.warning}`));
  const stores = set.shards.map((shard) => new Store(shard));
  const shardOf = control === null ? null : setShards({ set, sinks, kafka, control, stores });
  const writerOf = (sink: Sink): RangeStore => {
    const writers = stores.map((store, index) => {
      const own = { store, sink: index === 0 ? sink : (sink.fresh?.() ?? sink), log, mostRefused: config.sinks.deadLetterLimit + 1 };
      return new TableWriter({
        ...own,
        metrics: writerMetrics(metrics, failing, label, index === 0 ? '' : ` in shard ${String(index + 1)}`),
      });
    });
    const [only] = writers;
    if (writers.length === 1 && only !== undefined) return only;
    if (shardOf === null) throw new Error(`BUG: The shards of the set ${set.name} are not known.`);
    return new ShardedWriter({ writers, shardOf });
  };
  const consumers = sinks.map((sink) => consumerOf(sink, writerOf(sink), options));
  const erasure = new ReplayErasure({ stores, log: log.child({ component: 'replay erasure', ...label }) });
  // each leaves its group in a third of a second
  const services = [erasure, together('sinks', consumers), together('lags', lagsOf(consumers, kafka, metrics, label))];
  return { stores, consumers, services };
}

function consumerOf(sink: Sink, store: RangeStore, { context, set, kafka, deadLetters, onExpired, among }: SetSinksOptions): RangeConsumer {
  const { config, log, metrics } = context;
  const stage = stageOf(sink.name, set.name);
  const groupId = sinkGroup(sink.name, set.name);
  const { deadLetterLimit } = config.sinks;
  return new RangeConsumer({
    ...{ kafka, groupId, store, deadLetterLimit },
    log: log.child({ component: stage }),
    signal: sink.signal,
    limits: SINK_PACE,
    budget: Math.floor((sink.heldBytes ?? HELD_BYTES) / among),
    onDrained: collectGarbage,
    onCrash: (error) => context.fail(error),
    onSilence: () => {
      metrics.givenUpCoordinators.inc({ group: groupId });
    },
    onExpired: (expired) => {
      onExpired(expired, stage);
    },
    deadLetter: async (batch) => {
      await deadLetters.write(
        batch.map((deadLetter) => ({ ...deadLetter, stage: `${stage}: ${deadLetter.stage}`, version: packageVersion() })),
      );
      for (const { topic, partition, offset, reason, detail } of batch) {
        metrics.deadLetters.inc({ topic, reason });
        log.error({ component: stage, topic, partition, offset, reason, detail }, 'A record became a dead letter.');
      }
    },
  });
}

const writerMetrics = (metrics: Metrics, failing: FailingInserts, label: Label, where: string): WriterMetrics => ({
  outcome: (table, error) => {
    if (error === null) failing.stored(table + where);
    else failing.failed(table + where, error);
  },
  stored: (table, rows, bytes, seconds) => {
    metrics.batches.inc({ stage: 'insert' });
    metrics.storedRows.inc({ table, ...label }, rows);
    metrics.storedBytes.inc({ table, ...label }, bytes);
    metrics.insertSeconds.observe({ table, ...label }, seconds);
  },
});

/** Watches how far each sink is behind. */
const lagsOf = (consumers: readonly RangeConsumer[], kafka: Kafka, metrics: Metrics, label: Label): readonly Service[] =>
  consumers.map(
    (consumer) =>
      new ConsumerLag({
        kafka,
        ...consumer.group,
        partitions: () => consumer.assigned,
        onLag: (partition, lag) => metrics.lag.set({ topic: consumer.group.topic, partition: String(partition), ...label }, lag),
        onDeleted: (partition) => metrics.lag.remove({ topic: consumer.group.topic, partition: String(partition), ...label }),
      }),
  );
