import { spanLayout, type SpanRow } from '../../pipeline/traces/span.ts';
import type { KafkaMessage } from '../../pipeline/bus/connection/kafka.ts';
import { encodeHeaders } from '../../pipeline/bus/records/record.ts';
import { COLUMNS } from '../../pipeline/rows/native.ts';
import { spansSignal } from '../../pipeline/traces/spans-signal.ts';
import { spanView } from '../../pipeline/traces/span-view.ts';
import { spanCountLayout, type SpanCount } from '../../pipeline/counters/span-counts.ts';
import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';
import type { PartialOutput } from '../../pipeline/processors/base/partial.ts';
import type { SpanBatch } from '../../pipeline/processors/spans/span-input.ts';

/** A span as a test says it: ids are small numbers, 0 for no parent. */
export type PlainSpan = {
  readonly trace?: number;
  readonly id: number;
  readonly parent?: number;
  readonly service: string;
  readonly name?: string;
  /** As OTLP numbers it: 2 server, 3 client. */
  readonly kind?: number;
  readonly isError?: boolean;
  /** Nanoseconds. */
  readonly time?: bigint;
  readonly duration?: bigint;
  /** Members of the row as they are. */
  readonly more?: Partial<SpanRow>;
};

export const SPAN_TIME = 1_795_000_000_000_000_000n;

const idOf = (number: number, length: number): Buffer => {
  const id = Buffer.alloc(length);
  id.writeUInt32BE(number, length - 4);
  return id;
};

const NOTHING: Omit<SpanRow, 'time' | 'duration' | 'traceId' | 'spanId' | 'parentSpanId' | 'service' | 'name' | 'kind' | 'status'> = {
  ...{ statusMessage: '', traceState: '', flags: 0, scope: '', scopeVersion: '', context: '', resource: '', longResource: '' },
  ...{ resourceTypes: '', attributes: [['key', 'value']], attributeTypes: 's', events: '', links: '' },
  ...{ droppedAttributes: 0, droppedEvents: 0, droppedLinks: 0 },
};

/** A row of `spans.v1`. */
const spanRow = ({
  trace = 1,
  id,
  parent = 0,
  service,
  name = 'op',
  kind = 1,
  isError = false,
  time = SPAN_TIME,
  duration = 1000n,
  more = {},
}: PlainSpan): SpanRow => ({
  ...NOTHING,
  ...{ time, duration, traceId: idOf(trace, 16), spanId: idOf(id, 8), parentSpanId: idOf(parent, 8), service, name },
  ...{ kind, status: isError ? 2 : 0 },
  ...more,
});

/** A message of `spans.v1` as the service writes it. */
export const spansMessage = (
  spans: readonly PlainSpan[],
  {
    offset,
    appendedAt,
    tenantId = 1,
    retentionDays = 14,
  }: { offset: number; appendedAt: number; tenantId?: number; retentionDays?: number },
): KafkaMessage => ({
  ...{ key: null, attributes: 0, offset: String(offset), timestamp: String(appendedAt), value: spansValue(spans) },
  headers: encodeHeaders(spansSignal, { tenantId, retentionDays, count: spans.length, bytes: 100, encoding: COLUMNS }),
});

/** Spans as the value of a record of `spans.v1`. */
export const spansValue = (spans: readonly PlainSpan[]): Buffer => spanLayout.encode(spans.map(spanRow));

/** A record of spans. Its view is valid until the next one is made. */
export const spanBatch = (spans: readonly PlainSpan[], more: Partial<SpanBatch> = {}): SpanBatch => ({
  ...{ kind: 'batch', partition: 3, offset: 0, appendedAt: 0, tenantId: 1, retentionDays: 30, bytes: 0 },
  spans: spans.length === 0 ? null : spanView(spansValue(spans), spans.length),
  ...more,
});

/** All rows of these records. */
export const spanCountsIn = (records: readonly (AbsoluteRecord | PartialOutput)[]): SpanCount[] =>
  records.flatMap((record) => {
    if ('kind' in record) return [];
    const rows = spanCountLayout.read(record.value, Number((record.headers as Record<string, string>)['count']));
    if (typeof rows === 'string') throw new Error(rows);
    return rows;
  });
