import { AdminConnection } from '../../pipeline/bus/connection/admin-connection.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { EndangeredSet } from '../../pipeline/bus/measured/endangered-set.ts';
import { LagSeconds } from '../../pipeline/bus/measured/lag-seconds.ts';
import { diskCheck, LogGuard, type GuardedTopic } from '../../pipeline/bus/measured/log-guard.ts';
import { USAGE_TOPIC } from '../../pipeline/bus/records/topics.ts';
import { KafkaCompactedLog } from '../../pipeline/bus/state/compacted-log.ts';
import type { StoreSet } from '../../pipeline/core/config-sets.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { sinksOf, type StoredSignal } from '../signals.ts';
import type { RoleContext } from './role.ts';
import { sinkGroup, sinkGroups } from './sink-group.ts';

/** Without an answer of Kafka for so long it is not known how old records are. Milliseconds. */
const DEADLINE_MS = 20_000;

/**
 * Watches whether ingest must be paused, in a process that takes entries (docs/adr/0040-ingest-watches-the-log.md). Its connections are its own,
 * so that nothing waits for it. A signal whose table lags pauses alone. `isStandby`: true while another process of this instance does it.
 */
export function createLogGuard(
  { config, log, metrics, registerWarning }: RoleContext,
  signals: readonly StoredSignal[],
  isStandby?: () => boolean,
): Service {
  const logger = log.child({ component: 'guard' });
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-guard', log });
  const usage = new KafkaCompactedLog({ kafka, log: logger, topic: USAGE_TOPIC });
  const connection = new AdminConnection(kafka, DEADLINE_MS);
  const ages = signals.flatMap(({ signal, sinks, source }) =>
    sinks.map((sink) => {
      const topic = signal.topic.name;
      const [groupId = '', ...others] = sinkGroups(sink.name, config.sets);
      // what one set has stored is not lost: a set that is away for long must not stop ingest (docs/adr/0059-sets.md)
      const age = new LagSeconds({ connection, topic, groupId, others });
      // where a derived topic lags, all that it may be derived of must wait
      return { topic: source === null ? null : topic, check: () => age.check() };
    }),
  );
  const warned = config.sets.length === 1 ? [] : endangeredSets(config.sets, signals, connection, registerWarning);
  const { dir, minFreeDiskPercent } = config.kafka;
  const disk = dir === '' || minFreeDiskPercent === 0 ? [] : [diskCheck(dir, minFreeDiskPercent)];
  const guard = new LogGuard({
    ...{ checks: [...disk.map((check) => ({ topic: null, check })), ...ages, ...warned], topic: usage, logger, isStandby },
    onLook: (isPaused) => {
      metrics.pausedIngest.set(isPaused ? 1 : 0);
    },
  });
  registerWarning(() => guard.warning);
  return {
    name: guard.name,
    start: () => guard.start(),
    async stop() {
      await guard.stop();
      await Promise.all([usage.stop(), connection.disconnect()]);
    },
  };
}

/** Checks that pause nothing: a set alone that has not stored what Kafka deletes soon is a warning. */
function endangeredSets(
  sets: readonly StoreSet[],
  signals: readonly StoredSignal[],
  connection: AdminConnection,
  registerWarning: RoleContext['registerWarning'],
): GuardedTopic[] {
  return sets.map(({ name: set }) => {
    const ages = sinksOf(signals).map(
      ({ name, signal }) => new LagSeconds({ connection, topic: signal.topic.name, groupId: sinkGroup(name, set) }),
    );
    const endangered = new EndangeredSet(set, ages);
    registerWarning(() => endangered.warning);
    return { topic: null, check: () => endangered.check() };
  });
}
