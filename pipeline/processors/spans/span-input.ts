import type { KafkaMessage } from '../../bus/connection/kafka.ts';
import { decodeBilled, isTick, readRecord } from '../../bus/records/record.ts';
import { spanView, type SpanView } from '../../traces/span-view.ts';
import { spansSignal } from '../../traces/spans-signal.ts';
import type { PartialOutput } from '../base/partial.ts';
import type { Position } from '../base/position.ts';
import type { Configurable, Fold, Tick } from '../base/processor.ts';
import { tickOf } from '../base/tick.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';

/** One record of `spans.v1`, as processors see it. Its view is valid until `fold` returns. */
export type SpanBatch = Position & {
  readonly kind: 'batch';
  readonly tenantId: number;
  /** Retention class in days; 0 keeps for ever. */
  readonly retentionDays: number;
  /** Billable bytes of the requests whose first record this is. */
  readonly bytes: number;
  /** The spans; null where there is none, or none to count. */
  readonly spans: SpanView | null;
};

export type SpanInput = SpanBatch | Tick;

/** A fold over `spans.v1`, whose outputs may be partials for a merger. */
export type SpanProcessor<State = unknown> = Fold<State, SpanInput, AbsoluteRecord | PartialOutput> & Configurable<State>;

/** What processors see of a record. Of a replay nothing is counted: its original was. */
export function spanInputOf(partition: number, message: KafkaMessage): SpanInput {
  const position = { partition, offset: Number(message.offset), appendedAt: Number(message.timestamp) };
  const record = readRecord(spansSignal, partition, message);
  if (isTick(record)) return tickOf(position, message);
  const { fault, replayOf, count, value, retentionDays } = record;
  const billed = decodeBilled(message);
  const spans = fault === null && replayOf === null && count > 0 ? spanView(value, count) : null;
  return { kind: 'batch', ...position, tenantId: billed?.tenantId ?? record.tenantId, retentionDays, bytes: billed?.bytes ?? 0, spans };
}
