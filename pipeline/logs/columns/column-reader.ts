import { ColumnReader, readChecked } from '../../rows/column-reader.ts';
import { lookIntoFrames, readFrames } from '../../rows/frames.ts';
import { MAX_ROWS, type ColumnHead } from '../../rows/native.ts';
import { StringView } from '../../rows/string-view.ts';
import { WordView } from '../../rows/word-view.ts';
import { HEADS } from './log-layout.ts';

/**
 * The columns of a record, where they lie in its decompressed bytes. Numbers that are not aligned are read by the offset at which their
 * column begins. Valid until the next record is read.
 */
export type ColumnsView = {
  readonly count: number;
  readonly bytes: Buffer;
  /** Where the columns of fixed size begin. */
  readonly time: number;
  readonly streamId: number;
  readonly severity: number;
  readonly pattern: number;
  readonly level: WordView;
  readonly service: WordView;
  readonly traceId: StringView;
  readonly spanId: StringView;
  readonly message: StringView;
  readonly names: WordView;
  readonly values: StringView;
  readonly jsonNames: WordView;
  /** How many fields, and JSON names, the rows up to each have; they may be longer than `count`. */
  readonly fieldEnds: Uint32Array;
  readonly jsonEnds: Uint32Array;
};

const scratch = Buffer.allocUnsafeSlow(8 * 1024 * 1024);

/**
 * Reads the value of a record with the encoding `columns`, and checks all of it: frames, names and types of the columns, that each has
 * `count` values, and that nothing is left over. So it can be passed on as it is, and cannot reach into the next record's columns.
 * Returns what is wrong as a string. The view is valid until the next call.
 */
export const readColumns = (value: Buffer, count: number): ColumnsView | string =>
  readChecked(count, () => readFrames(value, scratch), (bytes) => columns.read(bytes, count)); // prettier-ignore

/** The same, but returns only what is wrong: null for nothing. */
export function checkColumns(value: Buffer, count: number): string | null {
  const view = readChecked(count, () => lookIntoFrames(value, scratch), (bytes) => columns.read(bytes, count)); // prettier-ignore
  return typeof view === 'string' ? view : null;
}

/** Reads record after record, each into the same objects. */
class Columns implements ColumnsView {
  count = 0;
  time = 0;
  streamId = 0;
  severity = 0;
  pattern = 0;
  readonly level = new WordView();
  readonly service = new WordView();
  readonly traceId = new StringView();
  readonly spanId = new StringView();
  readonly message = new StringView();
  readonly names = new WordView();
  readonly values = new StringView();
  readonly jsonNames = new WordView();
  fieldEnds = new Uint32Array(64);
  jsonEnds = new Uint32Array(64);
  bytes: Buffer = scratch;
  readonly #from = new ColumnReader();

  read(bytes: Buffer, count: number): this {
    const from = this.#from;
    from.begin(bytes, count);
    this.bytes = bytes;
    this.count = count;
    if (this.fieldEnds.length < count) {
      this.fieldEnds = new Uint32Array(Math.min(2 * count, MAX_ROWS));
      this.jsonEnds = new Uint32Array(this.fieldEnds.length);
    }
    from.head(HEADS.time);
    this.time = from.nanoseconds();
    from.head(HEADS.streamId);
    this.streamId = from.fixed(8);
    from.head(HEADS.severity);
    this.severity = from.fixed(1);
    from.head(HEADS.pattern);
    this.pattern = from.fixed(8);
    this.#words(HEADS.level, this.level);
    this.#words(HEADS.service, this.service);
    from.head(HEADS.traceId);
    from.strings(this.traceId);
    from.head(HEADS.spanId);
    from.strings(this.spanId);
    from.head(HEADS.message);
    from.strings(this.message);
    this.#lists(HEADS.fields, this.fieldEnds, this.names);
    from.strings(this.values, this.names.count);
    this.#lists(HEADS.jsonKeys, this.jsonEnds, this.jsonNames);
    from.end();
    return this;
  }

  #words(head: ColumnHead, into: WordView): void {
    this.#from.head(head);
    this.#from.version();
    this.#from.words(into);
  }

  /** A column of lists of words: where each row's list ends, and the words of all. */
  #lists(head: ColumnHead, ends: Uint32Array, into: WordView): void {
    this.#from.head(head);
    this.#from.version();
    const count = this.#from.ends(ends);
    if (count === 0) into.clear();
    else this.#from.words(into, count);
  }
}

const columns = new Columns();
