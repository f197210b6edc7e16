import { framesOf } from '../rows/frames.ts';
import type { DefinitionList, DefinitionPage, PageScope } from './definition-list.ts';
import { FIELD, type SeriesTable } from './known-series.ts';

/** Definitions of a page, and their bytes unless a single one has more. */
export const PAGE_DEFINITIONS = 64;
const PAGE_BYTES = 65_536;
/** Fewer are compressed anew for each record. */
const LEAST_DEFINITIONS = 16;
/** What the frames of a process take. */
const MAX_BYTES = 16 * 1024 * 1024;
/** A page of which so many records in a row use less than a quarter is made of other series now. */
const MOST_UNUSED = 8;

/** The frames of a list: how many of them have whole definitions, and how many definitions follow behind these. */
export type PagedFrames = { readonly frames: readonly Buffer[]; readonly loose: number };

/** The pages that records were made of lately. */
export class DefinitionPages {
  readonly #pages = new Map<number, DefinitionPage>();
  #next = 1;
  #bytes = 0;
  readonly #maxBytes: number;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The page of this number, if it is one of the tenant's of this day. */
  of(number: number, { tenantId, day }: PageScope): DefinitionPage | undefined {
    const page = this.#pages.get(number);
    return page?.tenantId === tenantId && page.day === day ? page : undefined;
  }

  /** What has to stand in a record for a list, which is complete. Of the definitions that are in no page, pages are made for the next record. */
  framesOf(list: DefinitionList, table: SeriesTable, scope: PageScope): PagedFrames {
    const frames = list.pages.map(({ frame }) => frame);
    list.pages.forEach((page, index) => {
      page.unused = 4 * (list.uses[index] as number) < page.count ? page.unused + 1 : 0;
      if (page.unused >= MOST_UNUSED) this.#drop(page);
    });
    let from = 0;
    while (from < list.loose) {
      const to = list.pageEnd(from, PAGE_DEFINITIONS, PAGE_BYTES);
      if (to === list.loose && to - from < LEAST_DEFINITIONS) break;
      const bytes = list.bytesOf(from, to);
      const frame = framesOf((out) => {
        out.put(bytes);
      });
      frames.push(frame);
      if (to - from >= LEAST_DEFINITIONS) this.#keep({ ...scope, frame, count: to - from, size: bytes.length }, list, from, table);
      from = to;
    }
    return { frames, loose: list.loose - from };
  }

  #keep(made: Omit<DefinitionPage, 'number' | 'unused'>, list: DefinitionList, from: number, table: SeriesTable): void {
    const number = this.#next++;
    this.#pages.set(number, { ...made, number, unused: 0 });
    this.#bytes += made.frame.length;
    const { entries } = table;
    for (let place = 0; place < made.count; place++) {
      const at = list.entryOf(from + place, table);
      if (at < 0) continue;
      entries[at + FIELD.page] = number;
      entries[at + FIELD.place] = place;
    }
    for (const page of this.#pages.values()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(page);
    }
  }

  #drop(page: DefinitionPage): void {
    if (this.#pages.delete(page.number)) this.#bytes -= page.frame.length;
  }
}
