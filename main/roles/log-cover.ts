import { LogCover } from '../../api/query/log-cover.ts';
import { RefusedRecords } from '../../api/query/refused-records.ts';
import { AdminConnection } from '../../pipeline/bus/connection/admin-connection.ts';
import type { DeadLetters } from '../../pipeline/bus/dead-letters/dead-letters.ts';
import { boundsOf, committedBy } from '../../pipeline/bus/reading/group-positions.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { DEAD_LETTER_TOPIC } from '../../pipeline/bus/records/topics.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { LOGS_TOPIC } from '../../pipeline/logs/record.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { volumeSink } from '../../sinks/volume.ts';
import type { RoleContext } from './role.ts';
import { sinkGroup, stageOf } from './sink-group.ts';

/** How long Kafka and ClickHouse may take to return what is stored. Milliseconds. */
const DEADLINE_MS = 5000;

/** How far the log is counted in a set, for the queries of this process. */
export function createLogCover(
  { config, log }: RoleContext,
  { store, deadLetters, set }: { readonly store: Store; readonly deadLetters: DeadLetters; readonly set: string },
): LogCover & Service {
  const admin = new AdminConnection(createKafka({ ...config.kafka, clientId: 'logweir-log-cover', log }), DEADLINE_MS);
  const refused = new RefusedRecords({
    ...{ topic: LOGS_TOPIC, deadLetters },
    ...(config.sets.length === 1 ? {} : { stage: stageOf('logs', set) }),
    end: () => admin.query(async (open) => (await boundsOf(open, DEAD_LETTER_TOPIC)).get(0)?.end ?? 0),
  });
  const cover = new LogCover({
    log: log.child({ component: 'log cover' }),
    refused: () => refused.known(),
    rows: (statement) => store.rows(statement, { tenantId: 0, timeoutMs: DEADLINE_MS }),
    positions: () =>
      admin.query(async (open) => {
        const [stored, counted, bounds] = await Promise.all([
          committedBy(open, sinkGroup('logs', set), LOGS_TOPIC),
          committedBy(open, sinkGroup(volumeSink.name, set), volumeSink.signal.topic.name),
          boundsOf(open, LOGS_TOPIC),
        ]);
        const list = Array.from({ length: bounds.size }, (_none, partition) => partition);
        return {
          stored: list.map((partition) => Math.max(0, stored.get(partition)?.offset ?? 0)),
          counted: list.map((partition) => Math.max(0, counted.get(partition)?.offset ?? 0)),
          ends: list.map((partition) => bounds.get(partition)?.end ?? 0),
        };
      }),
  });
  return Object.assign(cover, { name: 'log cover', start: () => Promise.resolve(), stop: () => admin.disconnect() });
}
