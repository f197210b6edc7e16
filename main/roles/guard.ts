import { KafkaCompactedLog } from '../../pipeline/bus/state/compacted-log.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { diskCheck, LogGuard } from '../../pipeline/bus/measured/log-guard.ts';
import { USAGE_TOPIC } from '../../pipeline/bus/records/topics.ts';
import { LagSeconds } from '../../pipeline/bus/measured/lag-seconds.ts';
import { signalsWith } from '../signals.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { Role, RoleContext } from './role.ts';
import { sinkGroup } from './sink-group.ts';

/** Watches whether the log may take more. It reads no data, so that no data can end it. */
export const guardRole: Role = {
  async services({ config, log, metrics, registerWarning }: RoleContext): Promise<Service[]> {
    const logger = log.child({ component: 'guard' });
    const kafka = createKafka({ ...config.kafka, clientId: 'logweir-guard', log });
    const usage = new KafkaCompactedLog({ kafka, log: logger, topic: USAGE_TOPIC });
    const ages = (await signalsWith(config.signals.files)).flatMap(({ signal, sinks, source }) =>
      sinks.map((sink) => {
        const topic = signal.topic.name;
        // where a derived topic lags, all that it may be derived of must wait
        return { topic: source === null ? null : topic, age: new LagSeconds({ kafka, topic, groupId: sinkGroup(sink.name) }) };
      }),
    );
    const { dir, minFreeDiskPercent } = config.kafka;
    const disk = dir === '' || minFreeDiskPercent === 0 ? [] : [diskCheck(dir, minFreeDiskPercent)];
    const appending: Service = { name: 'usage topic', start: () => Promise.resolve(), stop: () => usage.stop() };
    const guard = new LogGuard({
      ...{
        checks: [...disk.map((check) => ({ topic: null, check })), ...ages.map(({ topic, age }) => ({ topic, check: () => age.check() }))],
        topic: usage,
        logger,
      },
      onLook: (isPaused) => {
        metrics.pausedIngest.set(isPaused ? 1 : 0);
      },
    });
    registerWarning(() => guard.warning);
    return [appending, ...ages.map(({ age }) => age), guard];
  },
};
