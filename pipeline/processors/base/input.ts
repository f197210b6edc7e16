import type { KafkaMessage } from '../../bus/connection/kafka.ts';
import { decodeBilled, isTick, readRecord } from '../../bus/records/record.ts';
import { viewOf } from '../../logs/columns/record-view.ts';
import { logsSignal } from '../../logs/logs-signal.ts';
import { RecordStreams } from '../../logs/record-streams.ts';
import type { LogRecord } from '../../logs/record.ts';
import type { Input } from './processor.ts';
import type { Position } from './position.ts';
import { tickOf } from './tick.ts';

/** What is counted of a record of any signal: whose it is, and its billable bytes. */
export type BilledInput = Position & { readonly kind: 'batch' | 'tick'; readonly tenantId?: number; readonly bytes?: number };

/** Reads of a record of any signal what it counts, and nothing else. */
export function billedInputOf(partition: number, message: KafkaMessage): BilledInput {
  const { tenantId = 0, bytes = 0 } = decodeBilled(message) ?? {};
  return { kind: 'batch', partition, offset: Number(message.offset), appendedAt: Number(message.timestamp), tenantId, bytes };
}

/** What processors see of a record. One that cannot be read has no entries, as it has none in the table; what it counts for its tenant counts. */
export function inputOf(partition: number, message: KafkaMessage): Input {
  const [offset, appendedAt] = [Number(message.offset), Number(message.timestamp)];
  const record = readRecord(logsSignal, partition, message);
  if (isTick(record)) return tickOf({ partition, offset, appendedAt }, message);
  const billed = decodeBilled(message);
  const { streams = RecordStreams.none } = record as Partial<LogRecord>;
  const columns = record.fault === null ? viewOf(record) : null;
  const tenantId = billed?.tenantId ?? record.tenantId;
  return {
    kind: 'batch',
    partition,
    offset,
    appendedAt,
    tenantId,
    retentionDays: record.retentionDays,
    bytes: billed?.bytes ?? 0,
    columns,
    streams,
  };
}
