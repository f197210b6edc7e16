import { invalidBody } from '../../core/errors.ts';
import type { Draft } from '../../logs/draft.ts';
import { FixedName } from '../../logs/names.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import { GroupBudget } from '../shared/group-budget.ts';
import type { IngestRequest } from '../normalizer.ts';

/** The field that holds Fluent's tag. */
const TAG = new FixedName('tag');

/** The longest tag in bytes: it is repeated in each entry. */
const MAX_TAG_BYTES = 256;

/** Why a record without a single field is rejected. */
export const NO_FIELDS = 'a record without fields';

/** What is wrong with a tag; empty where nothing is. */
export function tagProblem(tag: string): string {
  return Buffer.byteLength(tag) > MAX_TAG_BYTES ? `a tag longer than ${String(MAX_TAG_BYTES)} bytes` : '';
}

/** Begins the entries of one request with the tags they have. */
export class TaggedEntries {
  readonly #out: EntryWriter;
  readonly #budget: GroupBudget;

  constructor(out: EntryWriter, maxBytes: number) {
    this.#out = out;
    this.#budget = new GroupBudget(maxBytes);
  }

  /** Begins the entry that lies at `bytes[at..after)`. */
  begin(bytes: Buffer, at: number, after: number, tag: string): Draft {
    const draft = this.#out.begin(bytes, at, after);
    if (tag === '') return draft;
    if (!this.#budget.spent) {
      draft.putString(TAG.in(draft.names), tag);
      this.#budget.hold(draft);
    }
    if (this.#budget.spent) draft.refuse('the tags of all entries of this request are too long');
    return draft;
  }
}

/** The tag of a request: `?tag=`, or the header that Fluent Bit's `header_tag` names. Empty where there is none. */
export function requestTag(request: IngestRequest): string {
  const tag = request.query.get('tag') ?? (request.header('x-tag') || request.header('fluent-tag'));
  const problem = tagProblem(tag);
  if (problem !== '') throw invalidBody(`The request has ${problem}.`);
  return tag;
}
