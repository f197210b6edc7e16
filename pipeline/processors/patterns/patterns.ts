import { DECIDING_BYTES } from '../../clusterer/message-patterns.ts';
import { wholeCharacters } from '../../clusterer/words.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { patternCountRecords } from '../../counters/pattern-counts.ts';
import type { ColumnsView } from '../../logs/columns/column-reader.ts';
import type { PartialOutput } from '../base/partial.ts';
import type { Batch, Input, Processor } from '../base/processor.ts';
import { errorPartials } from './error-counts.ts';
import { PatternSegment, type SegmentEnd } from './pattern-segment.ts';
import { encodeSeen, type SeenPattern } from './patterns-partial.ts';
import { PatternsState, SEGMENTS } from './patterns-state.ts';
import { RecordPatterns } from './record-patterns.ts';

const HOUR_MS = 3_600_000;
const HOURS = 24;
/** A longer label set is not reported. */
const MAX_STREAM_BYTES = 4096;

export type PatternsOptions = {
  /** When a segment has more groups, those of the largest tenants are merged; where that is not enough it is closed. */
  readonly maxGroups?: number;
};

const idBytes = Buffer.alloc(8);

/** The record that is being folded; nothing of it is part of a state. */
const record = new RecordPatterns();

/**
 * Counts entries by tenant, pattern, stream, severity and span of time, in segments as the volume has them. Reports each new pattern, and
 * each pattern once on each day on which it comes, to `clusters`, which finds its template and cluster (docs/adr/0030-patterns.md). How
 * many errors each has is reported each ten seconds to `alerting`, which watches them.
 */
export const createPatterns = ({ maxGroups = 50_000 }: PatternsOptions = {}): Processor<PatternsState> => ({
  name: 'patterns',
  init: () => new PatternsState(),

  fold(state, input) {
    const outputs: (AbsoluteRecord | PartialOutput)[] = [];
    const close = (longest: number, until: number, closedAt: number): void => {
      const { partition } = input;
      for (let index = 0; index <= longest; index++) outputs.push(...closed(state, index, { partition, until, closedAt, run: state.run }));
    };
    if (input.offset !== state.next) {
      // what is missing came behind what has been counted
      close(SEGMENTS.length - 1, state.next, state.lastAt);
      state.run = input.appendedAt;
    }
    const longest = state.segments.findLastIndex((segment, index) => segment !== null && isOver(segment, index, input));
    close(longest, input.offset, input.appendedAt);
    const counts = input.kind === 'batch' && input.columns !== null && input.columns.count > 0;
    if (counts) outputs.push(...take(state, input, input.columns));
    state.next = input.offset + 1;
    state.lastAt = input.appendedAt;
    for (const segment of state.segments) segment?.limit(maxGroups);
    close(
      state.segments.findLastIndex((segment) => segment !== null && segment.size > maxGroups),
      state.next,
      input.appendedAt,
    );
    return outputs;
  },

  snapshot: (state) => state.snapshot(),
  restore: (bytes) => PatternsState.restored(bytes),
});

const isOver = ({ since }: PatternSegment, index: number, { appendedAt }: Input): boolean =>
  appendedAt >= since + (SEGMENTS[index]?.openMs ?? 0);

/** The rows of a segment, which is open no more; of the short one its errors are reported as well. */
function closed({ segments }: PatternsState, index: number, end: SegmentEnd): (AbsoluteRecord | PartialOutput)[] {
  const segment = segments[index] ?? null;
  segments[index] = null;
  if (segment === null) return [];
  return [...patternCountRecords(end.partition, segment.rows(end)), ...(index === 0 ? errorPartials(segment, end.closedAt) : [])];
}

/** Counts a record, and returns the partials of its patterns that are to be reported. */
function take(state: PatternsState, input: Batch, columns: ColumnsView): PartialOutput[] {
  const { tenantId, retentionDays, offset, appendedAt } = input;
  const hour = Math.floor(appendedAt / HOUR_MS);
  const day = Math.floor(hour / HOURS);
  if (day > state.day) {
    state.known.forget(day);
    state.day = day;
  }
  record.count(columns);
  if (record.groups.size === 0) return [];
  SEGMENTS.forEach(({ minutes }, index) => {
    const segment = (state.segments[index] ??= new PatternSegment(offset, appendedAt, minutes));
    segment.add(record, tenantId, retentionDays);
  });
  const seen = unpublishedOf(state, input, columns, hour);
  return encodeSeen(seen).map((value) => ({ kind: 'partial', tenantId, retentionDays, value }));
}

/** The patterns of the record that are to be reported. */
function unpublishedOf(state: PatternsState, { tenantId, streams }: Batch, columns: ColumnsView, hour: number): SeenPattern[] {
  const { patterns, firstTime, firstRow } = record;
  const seen: (Omit<SeenPattern, 'stream'> & { readonly row: number })[] = [];
  for (let number = 0; number < patterns.size; number++) {
    const [high, low, first] = [patterns.high(number), patterns.low(number), firstTime[number] as number];
    if (!state.known.report(tenantId, high, low, hour, first)) continue;
    const row = firstRow[number] as number;
    seen.push({ high, low, first, row, severity: columns.bytes[columns.severity + row] as number, message: messageAt(columns, row) });
  }
  if (seen.length === 0) return [];
  const idAt = (row: number): string => columns.bytes.toString('latin1', columns.streamId + 8 * row, columns.streamId + 8 * row + 8);
  const ids = seen.map(({ row }) => idAt(row));
  const wanted = new Set(ids);
  const texts = new Map<string, string>();
  streams.forEach((stream) => {
    idBytes.writeInt32LE(stream.low | 0, 0);
    idBytes.writeInt32LE(stream.high | 0, 4);
    const id = idBytes.toString('latin1');
    if (wanted.has(id) && !texts.has(id)) texts.set(id, Buffer.from(stream.text()).toString('latin1'));
  });
  return seen.map(({ high, low, first, severity, message }, index) => {
    const stream = texts.get(ids[index] ?? '') ?? '';
    return { high, low, first, severity, message, stream: stream.length > MAX_STREAM_BYTES ? '' : stream };
  });
}

/** As much of a message as a template is made of. */
function messageAt({ bytes, message }: ColumnsView, row: number): string {
  const [start, end] = [message.starts[row] as number, message.ends[row] as number];
  return bytes.toString('latin1', start, end - start > DECIDING_BYTES ? wholeCharacters(bytes, start + DECIDING_BYTES) : end);
}
