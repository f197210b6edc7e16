import { AbsoluteWriter } from '../../pipeline/bus/absolute-record.ts';
import { createKafka } from '../../pipeline/bus/kafka.ts';
import { encodeTick } from '../../pipeline/bus/record.ts';
import { StateLog } from '../../pipeline/bus/state-log.ts';
import { KafkaStateTopic } from '../../pipeline/bus/state-topic.ts';
import { stateTopic } from '../../pipeline/bus/topics.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { logsSignal } from '../../pipeline/logs/logs-signal.ts';
import { LOGS_TOPIC } from '../../pipeline/logs/record.ts';
import { ProcessorHost } from '../../pipeline/processors/host.ts';
import { processors } from '../../pipeline/processors/index.ts';
import { inputOf } from '../../pipeline/processors/input.ts';
import type { Role, RoleContext } from './role.ts';

/** The consumer group that all processors share. */
const GROUP = 'logweir-processors';

/** Folds the log into what is derived from it: one reading, for every processor. */
export const processorsRole: Role = {
  name: 'processors',
  services(context: RoleContext): Service[] {
    const { config, metrics } = context;
    const log = context.log.child({ component: 'processors' });
    const kafka = createKafka({ ...config.kafka, clientId: 'logweir-processors', log });
    const states = processors.members.map(
      ({ name }) => new StateLog({ topic: new KafkaStateTopic({ kafka, log, topic: stateTopic(name).name }), log }),
    );
    const host = new ProcessorHost({
      ...{ kafka, log, topic: LOGS_TOPIC, groupId: GROUP, inputOf },
      hosted: processors.members.map((processor, index) => ({ processor, states: states[index] as StateLog })),
      writer: new AbsoluteWriter(kafka),
      tick: (partition) => ({ topic: LOGS_TOPIC, partition, key: null, ...encodeTick(logsSignal) }),
      onCrash: (error) => context.fail(error),
      onFold: (processor, ms, entries) => {
        metrics.foldSeconds.inc({ processor }, ms / 1000);
        metrics.foldedEntries.inc({ processor }, entries);
      },
    });
    context.showProcessors(() => host.status);
    context.registerCheck('processors', () => host.joined);
    context.registerCheck('halted processors', () => host.status.every(({ halted }) => halted === null));
    return [...states, host];
  },
};
