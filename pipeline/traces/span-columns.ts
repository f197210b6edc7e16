import { bytesOf, putEnds, putStrings, putWords } from '../rows/column-writer.ts';
import { Dictionary } from '../rows/dictionary.ts';
import { framesOf, type FrameWriter } from '../rows/frames.ts';
import { DICTIONARY_VERSION, MAX_KEYS, MAX_ROWS } from '../rows/native.ts';
import { StringColumn } from '../rows/string-column.ts';
import { WordTable } from '../rows/words.ts';
import { MAX_ATTRIBUTES } from './attribute-list.ts';
import { SPAN_ID_BYTES, spanLayout, TRACE_ID_BYTES } from './span.ts';

/** The words of the columns of a process, by column: hostile ones of one do not push out those of another. */
export class SpanWords {
  readonly services = new WordTable();
  readonly names = new WordTable();
  /** Names and versions of scopes, and contexts. */
  readonly scopes = new WordTable();
  readonly resources = new WordTable();
  readonly types = new WordTable();
  readonly keys = new WordTable();
}

/** The columns of words of a row, and what their ids are of. */
const WORD_COLUMNS = {
  service: 'services',
  name: 'names',
  scope: 'scopes',
  scopeVersion: 'scopes',
  context: 'scopes',
  resource: 'resources',
  resourceTypes: 'types',
  attributeTypes: 'types',
  keys: 'keys',
} as const;

const TEXT_COLUMNS = ['statusMessage', 'traceState', 'longResource', 'events', 'links', 'values'] as const;
/** Columns of four bytes a row, and of eight as two words. */
const NUMBERS = { time: 2, duration: 2, flags: 1, droppedAttributes: 1, droppedEvents: 1, droppedLinks: 1 } as const;
/** Columns of bytes, and how many a row has. */
const BYTES = { traceId: TRACE_ID_BYTES, spanId: SPAN_ID_BYTES, parentSpanId: SPAN_ID_BYTES, kind: 1, status: 1 } as const;
/** What a row takes beside its strings and attributes. */
const ROW_BYTES = 90;
const FIRST_ROWS = 64;
/** Columns with fewer rows grow by this factor, and what a row has of attributes at first. */
const [FEW_ROWS, FEW_FACTOR, FIRST_ATTRIBUTES, FIRST_VALUES] = [1024, 4, 8, 64] as const;

type Of<Columns, Value> = { -readonly [Column in keyof Columns]: Value };
type Words = Of<typeof WORD_COLUMNS, Dictionary>;
type Texts = Record<(typeof TEXT_COLUMNS)[number], StringColumn>;

const made = <Key extends string, From, To>(columns: Readonly<Record<Key, From>>, make: (from: From, key: Key) => To): Record<Key, To> =>
  Object.fromEntries(Object.entries<From>(columns).map(([key, from]) => [key, make(from, key as Key)])) as Record<Key, To>;

/**
 * Rows of spans as columns that grow: what a record of `spans.v1` is before it is encoded. The caller sets the numbers of row `count` after
 * `openRow`, adds one value to each other column, and calls `closeRow`.
 */
export class SpanColumns {
  count = 0;
  readonly numbers: Of<typeof NUMBERS, Uint32Array>;
  readonly bytes: Of<typeof BYTES, Buffer>;
  readonly words: Words;
  readonly texts: Texts;
  /** How many attributes the rows up to each have. */
  attributeEnds: Uint32Array = new Uint32Array(FIRST_ROWS);

  constructor(tables: SpanWords) {
    this.numbers = made(NUMBERS, (width) => new Uint32Array(width * FIRST_ROWS));
    this.bytes = made(BYTES, (width) => Buffer.allocUnsafeSlow(width * FIRST_ROWS));
    this.words = made(
      WORD_COLUMNS,
      (table) => new Dictionary(tables[table].ids, table === 'keys' ? FIRST_ROWS * FIRST_ATTRIBUTES : FIRST_ROWS),
    );
    this.texts = Object.fromEntries(
      TEXT_COLUMNS.map((column) => [column, new StringColumn(column === 'values' ? FIRST_ROWS * FIRST_VALUES : FIRST_ROWS)]),
    ) as Texts;
  }

  /** About what the encoded columns have before they are compressed. */
  get size(): number {
    const { statusMessage, traceState, longResource, events, links, values } = this.texts;
    return (
      this.count * ROW_BYTES +
      this.words.keys.length +
      statusMessage.length +
      traceState.length +
      longResource.length +
      events.length +
      links.length +
      values.length
    );
  }

  /** True while `rows` more rows with `keys` different keys fit into one record. */
  fits(rows: number, keys = MAX_ATTRIBUTES): boolean {
    return this.count + rows <= MAX_ROWS && this.words.keys.words.length + keys <= MAX_KEYS;
  }

  /** Makes space for a row. */
  openRow(): void {
    if (this.count >= this.attributeEnds.length) this.#grow(this.count + 1);
  }

  closeRow(): void {
    this.attributeEnds[this.count] = this.words.keys.length;
    this.count += 1;
  }

  /** Adds all rows of others, of the same tables of words. */
  append(other: SpanColumns): void {
    const { count } = this;
    if (count + other.count > this.attributeEnds.length) this.#grow(count + other.count);
    for (const [column, width] of entriesOf(NUMBERS))
      this.numbers[column].set(other.numbers[column].subarray(0, width * other.count), width * count);
    for (const [column, width] of entriesOf(BYTES)) other.bytes[column].copy(this.bytes[column], width * count, 0, width * other.count);
    const before = this.words.keys.length;
    for (let row = 0; row < other.count; row++) this.attributeEnds[count + row] = before + (other.attributeEnds[row] as number);
    for (const [column] of entriesOf(WORD_COLUMNS)) this.words[column].append(other.words[column]);
    for (const column of TEXT_COLUMNS) {
      const { bytes, length } = other.texts[column];
      this.texts[column].append(bytes.subarray(0, length));
    }
    this.count += other.count;
  }

  /** The value of a record. */
  encode(): Buffer {
    return framesOf((to) => {
      for (const put of PUTS) put(to, this);
    });
  }

  #grow(rows: number): void {
    const before = this.attributeEnds.length;
    const capacity = Math.max(rows, before * (before < FEW_ROWS ? FEW_FACTOR : 2));
    for (const [column, width] of entriesOf(NUMBERS)) this.numbers[column] = widened(this.numbers[column], width * capacity);
    for (const [column, width] of entriesOf(BYTES)) {
      const larger = Buffer.allocUnsafeSlow(width * capacity);
      this.bytes[column].copy(larger);
      this.bytes[column] = larger;
    }
    this.attributeEnds = widened(this.attributeEnds, capacity);
  }
}

const entriesOf = <Key extends string, Value>(columns: Readonly<Record<Key, Value>>): [Key, Value][] =>
  Object.entries(columns) as [Key, Value][];

function widened(column: Uint32Array, length: number): Uint32Array {
  const larger = new Uint32Array(length);
  larger.set(column);
  return larger;
}

type Put = (to: FrameWriter, columns: SpanColumns) => void;
/** A column of the layout: what begins it, then its content. */
const column = (name: string, put: Put): Put => {
  const { bytes } = spanLayout.head(name);
  return (to, columns) => {
    to.put(bytes);
    put(to, columns);
  };
};
const numbers = (name: string, member: keyof typeof NUMBERS): Put =>
  column(name, (to, columns) => to.put(bytesOf(columns.numbers[member], 4 * NUMBERS[member] * columns.count)));
const fixed = (name: string, member: keyof typeof BYTES): Put =>
  column(name, (to, columns) => to.put(columns.bytes[member].subarray(0, BYTES[member] * columns.count)));
const words = (name: string, member: keyof typeof WORD_COLUMNS): Put =>
  column(name, (to, columns) => {
    to.putNumber(DICTIONARY_VERSION);
    putWords(to, columns.words[member]);
  });
const text = (name: string, member: keyof Texts): Put =>
  column(name, (to, columns) => {
    putStrings(to, columns.texts[member]);
  });

/** In the order of the layout. */
const PUTS: readonly Put[] = [
  numbers('time', 'time'),
  numbers('duration', 'duration'),
  fixed('trace_id', 'traceId'),
  fixed('span_id', 'spanId'),
  fixed('parent_span_id', 'parentSpanId'),
  words('service', 'service'),
  words('name', 'name'),
  fixed('kind', 'kind'),
  fixed('status', 'status'),
  text('status_message', 'statusMessage'),
  text('trace_state', 'traceState'),
  numbers('flags', 'flags'),
  words('scope', 'scope'),
  words('scope_version', 'scopeVersion'),
  words('context', 'context'),
  words('resource', 'resource'),
  text('long_resource', 'longResource'),
  words('resource_types', 'resourceTypes'),
  column('attributes', (to, { words: { keys }, attributeEnds, texts, count }) => {
    to.putNumber(DICTIONARY_VERSION);
    putEnds(to, attributeEnds, count);
    if (keys.length > 0) putWords(to, keys);
    putStrings(to, texts.values);
  }),
  words('attribute_types', 'attributeTypes'),
  text('events', 'events'),
  text('links', 'links'),
  numbers('dropped_attributes', 'droppedAttributes'),
  numbers('dropped_events', 'droppedEvents'),
  numbers('dropped_links', 'droppedLinks'),
];
