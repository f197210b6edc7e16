import { sql, text, type Sql } from '../../pipeline/core/sql.ts';
import type { SampleBlocks } from './sample-blocks.ts';
import type { Samples } from './sample-rows.ts';

/** So many series with equal times are read again one by one; from then on all come in the order of their arrival. */
const MANY_TIES = 8;

/** Begins a statement of samples by series and time. `ids`: a condition on the series; `byArrival`: equal times by their arrival. */
type Open = (ids: readonly Sql[], byArrival: boolean) => SampleBlocks;

/**
 * Samples that are numbers, series by series. Arrival is a fifth of what reading costs, and few samples come twice: a series is read again with it where
 * its times show that it matters.
 */
export class Numbers {
  readonly #open: Open;
  #blocks: SampleBlocks;
  #byArrival = false;
  #ties = 0;

  constructor(open: Open) {
    this.#open = open;
    this.#blocks = open([], false);
  }

  /** As `SampleBlocks.of`: of equal times the later arrival. */
  async of(id: bigint): Promise<Samples | null> {
    const found = await this.#blocks.of(id);
    if (this.#byArrival || !this.#blocks.hasTies) return found;
    const own = sql`toUInt64(${text(String(id))})`;
    this.#ties += 1;
    if (this.#ties > MANY_TIES) {
      await this.#blocks.end();
      this.#blocks = this.#open([sql`series >= ${own}`], true);
      this.#byArrival = true;
      return this.#blocks.of(id);
    }
    const alone = this.#open([sql`series = ${own}`], true);
    try {
      return await alone.of(id);
    } finally {
      await alone.end();
    }
  }

  /** Ends the statement. */
  async end(): Promise<void> {
    await this.#blocks.end();
  }
}
