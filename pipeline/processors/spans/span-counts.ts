import { CutOff, ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { spanCountRecords } from '../../counters/span-counts.ts';
import { Segments, type Closed } from '../base/segments.ts';
import { whole } from '../base/slices.ts';
import { MINUTE_SECONDS, SPAN_MINUTES } from '../base/spans.ts';
import { Cells } from './cells.ts';
import { OpenSpans } from './open-spans.ts';
import { cellsWithout } from './record-cells.ts';
import type { SpanInput, SpanProcessor } from './span-input.ts';
import { SpanSegment } from './span-segment.ts';

const VERSION = 1;
const [CLOSED, OPEN] = [0, 1] as const;

/** What is known of a partition of `spans.v1`. */
export class SpanCountsState extends Segments<SpanSegment> {
  open = new OpenSpans();
}

const found = new Cells();

/**
 * Counts the spans of operations, and the calls between services, by minute, hour and day, in segments (docs/adr/0043-derived-from-spans.md). An edge is
 * counted where nothing can come any more that would change it.
 */
export const spanCounts: SpanProcessor<SpanCountsState> = {
  name: 'span-counts',
  init: () => new SpanCountsState(),

  fold(state, input) {
    const { closed } = state.pass(input);
    const outputs = closed.flatMap((one) => recordsOf(input.partition, one));
    found.clear();
    state.open.pass(input.appendedAt, found);
    if (input.kind === 'batch' && input.spans !== null) {
      const copies = state.open.add(input, found);
      add(state, input, cellsWithout(input, copies));
    }
    add(state, input, found);
    state.took(input);
    return outputs;
  },

  snapshot: (state) => whole(slices(state)),
  slices,

  restore(bytes) {
    const from = new ByteReader(bytes);
    try {
      if (from.count() !== VERSION) return null;
      const state = new SpanCountsState();
      [state.next, state.lastAt, state.base, state.run] = [from.count(), from.count(), from.count(), from.count()];
      for (let span = 0; span < state.segments.length; span++)
        state.segments[span] = from.count(OPEN) === CLOSED ? null : SpanSegment.read(from);
      state.open = OpenSpans.read(from);
      return from.isAtEnd ? state : null;
    } catch (error) {
      if (error instanceof CutOff) return null;
      throw error;
    }
  },
};

function* slices({ next, lastAt, base, run, segments, open }: SpanCountsState): Generator<undefined, Buffer> {
  const to = new ByteWriter();
  for (const number of [VERSION, next, lastAt, base, run]) to.count(number);
  for (const segment of segments) {
    to.count(segment === null ? CLOSED : OPEN);
    segment?.write(to);
    yield;
  }
  open.write(to);
  return to.finish();
}

function add({ segments }: SpanCountsState, input: SpanInput, cells: Cells): void {
  if (cells.table.size === 0) return;
  SPAN_MINUTES.forEach((minutes, span) => {
    (segments[span] ??= new SpanSegment(input.offset, input.appendedAt)).add(cells, minutes);
  });
}

/** The rows of a segment, which is open no more. */
function recordsOf(partition: number, { segment, span, until, run, ...at }: Closed<SpanSegment>): AbsoluteRecord[] {
  const minutes = SPAN_MINUTES[span] as number;
  const key = { partition, span: minutes * MINUTE_SECONDS, segment: segment.from, until, run };
  return spanCountRecords(partition, segment.rows(key, minutes, at));
}
