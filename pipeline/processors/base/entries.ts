import type { ColumnsView } from '../../logs/columns/column-reader.ts';
import { stringAt, timeAt } from '../../logs/columns/row-reader.ts';
import type { WordView } from '../../rows/word-view.ts';
import type { Input } from './processor.ts';

const NANOS = 1_000_000_000n;

/** An entry of a batch; valid until the next one is read. */
export interface Entry {
  /** Nanoseconds since 1970. */
  readonly time: bigint;
  /** As the producer sent them; empty where it sent none. */
  readonly level: string;
  readonly service: string;
  readonly message: string;
  /** The value of a field by its flattened name, `user.id`; empty where the entry has none. */
  field(name: string): string;
  /** When the span of `seconds` begins that the time lies in: seconds since 1970, aligned to the epoch. */
  spanStart(seconds: number): number;
}

/** The entries of an input, in their order; none of a tick. */
export function* entries(input: Input): Generator<Entry> {
  if (input.kind === 'tick' || input.columns === null) return;
  const rows = new Rows(input.columns);
  for (; rows.row < input.columns.count; rows.row++) yield rows;
}

/** Row after row of a record. */
class Rows implements Entry {
  row = 0;
  readonly #view: ColumnsView;
  readonly #levels: readonly string[];
  readonly #services: readonly string[];
  readonly #names: readonly string[];

  constructor(view: ColumnsView) {
    this.#view = view;
    [this.#levels, this.#services, this.#names] = [view.level, view.service, view.names].map((words) => wordsOf(view, words)) as [
      string[],
      string[],
      string[],
    ];
  }

  get time(): bigint {
    return timeAt(this.#view, this.row);
  }

  get level(): string {
    return this.#levels[this.#view.level.codes[this.row] as number] as string;
  }

  get service(): string {
    return this.#services[this.#view.service.codes[this.row] as number] as string;
  }

  get message(): string {
    return stringAt(this.#view, this.#view.message, this.row);
  }

  field(name: string): string {
    const code = this.#names.indexOf(name);
    if (code < 0) return '';
    const { names, values, fieldEnds } = this.#view;
    const { codes } = names;
    const end = fieldEnds[this.row] as number;
    for (let at = this.row === 0 ? 0 : (fieldEnds[this.row - 1] as number); at < end; at++)
      if (codes[at] === code) return stringAt(this.#view, values, at);
    return '';
  }

  spanStart(seconds: number): number {
    const { time } = this;
    const length = BigInt(seconds) * NANOS;
    const spans = time / length - (time < 0n && time % length !== 0n ? 1n : 0n);
    return Number(spans) * seconds;
  }
}

/** The words that a record has in a column, by their codes. */
const wordsOf = (view: ColumnsView, { keys }: WordView): string[] =>
  Array.from({ length: keys.count }, (_none, code) => stringAt(view, keys, code));
