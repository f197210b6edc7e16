import { ColumnReader, readChecked } from '../rows/column-reader.ts';
import { StringView } from '../rows/string-view.ts';
import { WordView } from '../rows/word-view.ts';
import { SPAN_ID_BYTES, spanLayout, TRACE_ID_BYTES } from './span.ts';
import type { SpanView } from './span-view.ts';

/** What of the spans of a record is not counted, where it lies in the bytes of its view. Valid until the next record is read. */
export type SpanDetails = {
  readonly statusMessage: StringView;
  readonly traceState: StringView;
  readonly scope: WordView;
  readonly scopeVersion: WordView;
  readonly context: WordView;
  readonly resource: WordView;
  readonly longResource: StringView;
  readonly keys: WordView;
  readonly values: StringView;
  /** How many attributes the rows up to each have; it may be longer than there are rows. */
  readonly attributeEnds: Uint32Array;
  readonly events: StringView;
  readonly links: StringView;
};

const HEADS = spanLayout.columns.map(({ name }) => spanLayout.head(name));

/** Reads record after record, each into the same objects. */
class Details implements SpanDetails {
  readonly statusMessage = new StringView();
  readonly traceState = new StringView();
  readonly scope = new WordView();
  readonly scopeVersion = new WordView();
  readonly context = new WordView();
  readonly resource = new WordView();
  readonly longResource = new StringView();
  readonly keys = new WordView();
  readonly values = new StringView();
  attributeEnds = new Uint32Array(64);
  readonly events = new StringView();
  readonly links = new StringView();
  /** Of columns that are passed over. */
  readonly #words = new WordView();
  readonly #from = new ColumnReader();
  #column = 0;

  read(bytes: Buffer, count: number): this {
    const from = this.#from;
    from.begin(bytes, count);
    this.#column = 0;
    if (this.attributeEnds.length < count) this.attributeEnds = new Uint32Array(2 * count);
    // time to status: what the view has
    for (const width of [8, 8, TRACE_ID_BYTES, SPAN_ID_BYTES, SPAN_ID_BYTES]) this.#fixed(width);
    for (const words of [this.#words, this.#words]) this.#word(words);
    for (const width of [1, 1]) this.#fixed(width);
    this.#strings(this.statusMessage);
    this.#strings(this.traceState);
    this.#fixed(4);
    for (const words of [this.scope, this.scopeVersion, this.context, this.resource]) this.#word(words);
    this.#strings(this.longResource);
    this.#word(this.#words);
    this.#attributes();
    this.#word(this.#words);
    this.#strings(this.events);
    this.#strings(this.links);
    return this;
  }

  #head(): void {
    this.#from.head(HEADS[this.#column++] as (typeof HEADS)[number]);
  }

  #fixed(width: number): void {
    this.#head();
    this.#from.fixed(width);
  }

  #word(into: WordView): void {
    this.#head();
    this.#from.version();
    this.#from.words(into);
  }

  #strings(into: StringView): void {
    this.#head();
    this.#from.strings(into);
  }

  #attributes(): void {
    this.#head();
    this.#from.version();
    const count = this.#from.ends(this.attributeEnds);
    if (count === 0) this.keys.clear();
    else this.#from.words(this.keys, count);
    this.#from.strings(this.values, count);
  }
}

const details = new Details();

/** The columns behind those of a view; null where they cannot be read. */
export function spanDetails({ bytes, count }: SpanView): SpanDetails | null {
  const found = readChecked(count, () => bytes, (content) => details.read(content, count)); // prettier-ignore
  return typeof found === 'string' ? null : found;
}
