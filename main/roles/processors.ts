import { KafkaCompactedLog } from '../../pipeline/bus/compacted-log.ts';
import { createKafka } from '../../pipeline/bus/kafka.ts';
import { LogReader } from '../../pipeline/bus/log-reader.ts';
import { USAGE_TOPIC } from '../../pipeline/bus/topics.ts';
import { UnreadAge } from '../../pipeline/bus/unread-age.ts';
import { LOGS_TOPIC } from '../../pipeline/logs/record.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { diskCheck, LogGuard } from '../../pipeline/processors/log-guard.ts';
import { ProcessorRunner } from '../../pipeline/processors/runner.ts';
import { usage } from '../../pipeline/processors/usage.ts';
import { sinks } from '../../sinks/index.ts';
import type { Role, RoleContext } from './role.ts';
import { sinkGroup } from './sink-group.ts';

/** Folds the log into what is derived from it (the volume of each tenant), and watches whether the log may take more. */
export const processorsRole: Role = {
  name: 'processors',
  services(context: RoleContext): Service[] {
    const { config, log } = context;
    const logger = log.child({ component: 'processors' });
    const kafka = createKafka({ ...config.kafka, clientId: 'logweir-processors', log });
    const topic = new KafkaCompactedLog({ kafka, log: logger, topic: USAGE_TOPIC });
    const reader = new LogReader({
      kafka,
      log: logger,
      groupId: `logweir-processor-${usage.name}`,
      topic: LOGS_TOPIC,
      onCrash: (error) => context.fail(error),
    });
    context.registerCheck('processors', () => reader.joined);
    const ages = sinks.members.map((sink) => new UnreadAge({ kafka, topic: sink.signal.topic.name, groupId: sinkGroup(sink.name) }));
    const { dir, minFreeDiskPercent } = config.kafka;
    const disk = dir === '' || minFreeDiskPercent === 0 ? [] : [diskCheck(dir, minFreeDiskPercent)];
    return [
      new ProcessorRunner({ processor: usage, reader, snapshots: topic, logger }),
      ...ages,
      new LogGuard({ checks: [...disk, ...ages.map((age) => () => age.check())], topic, logger }),
    ];
  },
};
