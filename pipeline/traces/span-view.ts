import { ColumnReader, readChecked } from '../rows/column-reader.ts';
import { readFrames } from '../rows/frames.ts';
import { WordView } from '../rows/word-view.ts';
import { KINDS, SPAN_ID_BYTES, spanLayout, TRACE_ID_BYTES } from './span.ts';

/** What is counted of the spans of a record, where it lies: for each column where its values begin. Valid until the next record is read. */
export type SpanView = {
  readonly bytes: Buffer;
  readonly data: DataView;
  readonly count: number;
  readonly time: number;
  readonly duration: number;
  readonly traceId: number;
  readonly spanId: number;
  readonly parentSpanId: number;
  readonly service: WordView;
  readonly name: WordView;
  readonly kind: number;
  readonly status: number;
};

/** In the order of the layout: its first columns. */
const HEADS = ['time', 'duration', 'trace_id', 'span_id', 'parent_span_id', 'service', 'name', 'kind', 'status'].map((name) =>
  spanLayout.head(name),
);
const scratch = Buffer.allocUnsafeSlow(1024 * 1024);
const reader = new ColumnReader();
const [service, name] = [new WordView(), new WordView()];

/**
 * The columns of a record of `spans.v1` that are counted; null where they cannot be read. The columns behind them are not looked at: all of a
 * record are checked where it is stored.
 */
export function spanView(value: Buffer, count: number): SpanView | null {
  const view = readChecked(count, () => readFrames(value, scratch), read);
  return typeof view === 'string' ? null : view;

  function read(bytes: Buffer): SpanView {
    let column = 0;
    const head = (): void => {
      reader.head(HEADS[column++] as (typeof HEADS)[number]);
    };
    const fixed = (width: number): number => {
      head();
      return reader.fixed(width);
    };
    const words = (into: WordView): WordView => {
      head();
      reader.version();
      reader.words(into);
      return into;
    };
    reader.begin(bytes, count);
    head();
    const time = reader.nanoseconds();
    const view = {
      ...{ bytes, data: reader.data, count, time, duration: fixed(8) },
      ...{ traceId: fixed(TRACE_ID_BYTES), spanId: fixed(SPAN_ID_BYTES), parentSpanId: fixed(SPAN_ID_BYTES) },
      ...{ service: words(service), name: words(name), kind: fixed(1), status: fixed(1) },
    };
    for (let row = 0; row < count; row++)
      if ((bytes[view.kind + row] as number) >= KINDS.length) throw reader.wrong('has a value that cannot be');
    return view;
  }
}
