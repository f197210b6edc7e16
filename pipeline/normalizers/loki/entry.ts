import { invalidBody } from '../../core/errors.ts';
import { STRING, type Draft } from '../../logs/draft.ts';
import { FixedName } from '../../logs/names.ts';
import type { SplitTime } from '../../rows/halves.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import { GroupBudget } from '../shared/group-budget.ts';
import type { IngestRequest } from '../normalizer.ts';
import { labelsAreStream } from '../shared/stream-labels.ts';

const MESSAGE = new FixedName('_msg');
const LEVEL = new FixedName('level');
/** Structured metadata that has the level. */
const LEVELS = ['detected_level', 'severity', 'severity_text'].map((name) => new FixedName(name));

/** The one mapping of Loki's streams to entries, behind the decoders of both encodings. */
export class LokiEntries {
  /** The time of the entry that is being read; zero: it has none. */
  readonly time: SplitTime = { seconds: 0, nanos: 0 };
  readonly #out: EntryWriter;
  readonly #request: IngestRequest;
  readonly #budget: GroupBudget;
  #readable = 0;

  constructor(request: IngestRequest, out: EntryWriter) {
    this.#request = request;
    this.#out = out;
    this.#budget = new GroupBudget(request.maxBytes);
  }

  /** Begins a stream: put in its labels, then call `holdStream`. Null: no more entries can be taken. */
  beginStream(body: Buffer): Draft | null {
    return this.#budget.spent ? null : this.#out.begin(body);
  }

  holdStream(draft: Draft): void {
    labelsAreStream(draft, this.#out);
    this.#budget.hold(draft);
  }

  /** Why the next entry of the stream cannot be taken (`refuse`); empty where it can. */
  next(): string {
    return this.#budget.next();
  }

  /** Begins an entry that lies at `body[from..to)`: put in `_msg`, then the metadata, call `endMetadata`, read the line, call `end`. */
  begin(from: number, to: number): Draft {
    return this.#out.again(from, to);
  }

  /** An empty line is kept. */
  putEmptyLine(draft: Draft): void {
    draft.set(MESSAGE.in(draft.names), STRING, '""');
  }

  /** The level of the metadata goes before that of the line. */
  endMetadata(draft: Draft): void {
    const level = LEVEL.in(draft.names);
    for (let i = 0; i < LEVELS.length && draft.find(level) < 0; i++) {
      const index = draft.find((LEVELS[i] as FixedName).in(draft.names));
      const word = index < 0 ? '' : draft.text(index).toLowerCase();
      // numbers are left to the canonical rules, and Loki sends "unknown" where it found none
      if (/^[a-z]/.test(word) && word !== 'unknown') draft.putString(level, word);
    }
  }

  end(): void {
    this.#readable += 1;
    const { seconds, nanos } = this.time;
    if (seconds !== 0 || nanos !== 0) this.#out.timeIs(seconds, nanos);
    else this.#out.timeIsNs(this.#request.receivedAt + BigInt(this.#out.total));
    this.#out.end();
  }

  /** An entry at `body[from..to)` that is not taken. */
  refuse(reason: string, body: Buffer, from: number, to: number, detail: (() => string) | null = null): void {
    this.#out.reject(reason, body, from, to, detail);
  }

  /** The 400 for a request of which no entry could be read. */
  finish(): void {
    if (this.#readable > 0 || this.#out.total === 0) return;
    throw invalidBody(`No entry could be read: entry 0: ${this.#out.rejected.first[0]?.reason ?? ''}.`);
  }
}
