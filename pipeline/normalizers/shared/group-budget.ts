import { ABSENT, type Draft } from '../../logs/draft.ts';
import type { Name } from '../../logs/names.ts';

/** What the fields that groups share may take in all entries of a request together, as a multiple of the body's cap. */
const FACTOR = 16;

/**
 * Bounds what becomes of a request whose entries share fields, such as the labels of a Loki stream: each entry is stored with all of
 * them, so that a megabyte of labels with a hundred thousand empty lines would be 100 GB.
 */
export class GroupBudget {
  readonly #total: number;
  #left: number;
  #each = 0;

  /** `maxBytes`: the cap of a body. */
  constructor(maxBytes: number) {
    this.#total = maxBytes * FACTOR;
    this.#left = this.#total;
  }

  /** Holds the fields of a group in the draft. `bytes`: what of the body was read for them, if other groups read it too. */
  hold(draft: Draft, bytes = 0): void {
    this.#left -= bytes;
    this.#each = 0;
    for (let i = 0; i < draft.count; i++) {
      if (draft.kinds[i] === ABSENT) continue;
      this.#each += (draft.ends[i] as number) - (draft.starts[i] as number) + (draft.fieldNames[i] as Name).native.length + 2;
    }
    this.#left -= this.#each;
    draft.hold();
  }

  /** Why the group's next entry cannot be taken; empty where it can. */
  next(): string {
    this.#left -= this.#each;
    return this.#left >= 0 ? '' : `the fields shared by entries would take more than ${String(this.#total)} bytes in this request`;
  }

  /** No further group may begin. */
  get spent(): boolean {
    return this.#left < 0;
  }
}
