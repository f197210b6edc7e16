import { KafkaCompactedLog } from '../../pipeline/bus/state/compacted-log.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { diskCheck, LogGuard } from '../../pipeline/bus/measured/log-guard.ts';
import { USAGE_TOPIC } from '../../pipeline/bus/records/topics.ts';
import { LagSeconds } from '../../pipeline/bus/measured/lag-seconds.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { sinks } from '../../sinks/index.ts';
import type { Role, RoleContext } from './role.ts';
import { sinkGroup } from './sink-group.ts';

/** Watches whether the log may take more. It reads no data, so that no data can end it. */
export const guardRole: Role = {
  services({ config, log, metrics, registerWarning }: RoleContext): Service[] {
    const logger = log.child({ component: 'guard' });
    const kafka = createKafka({ ...config.kafka, clientId: 'logweir-guard', log });
    const topic = new KafkaCompactedLog({ kafka, log: logger, topic: USAGE_TOPIC });
    const ages = sinks.members.map((sink) => new LagSeconds({ kafka, topic: sink.signal.topic.name, groupId: sinkGroup(sink.name) }));
    const { dir, minFreeDiskPercent } = config.kafka;
    const disk = dir === '' || minFreeDiskPercent === 0 ? [] : [diskCheck(dir, minFreeDiskPercent)];
    const appending: Service = { name: 'usage topic', start: () => Promise.resolve(), stop: () => topic.stop() };
    const guard = new LogGuard({
      ...{ checks: [...disk, ...ages.map((age) => () => age.check())], topic, logger },
      onLook: (isPaused) => {
        metrics.pausedIngest.set(isPaused ? 1 : 0);
      },
    });
    registerWarning(() => guard.warning);
    return [appending, ...ages, guard];
  },
};
