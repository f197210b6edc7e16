import { SampleColumns } from './sample-columns.ts';

/** How many columns are kept for others, and of how many bytes each at most. */
const [POOLED, POOLED_BYTES] = [16, 1024 * 1024];

/** Columns for chunks: requests are alike, and new memory for each of them is work for the garbage collector. */
export class ColumnPool {
  readonly #free: SampleColumns[] = [];

  /** Empty columns, which nobody else has. */
  take(): SampleColumns {
    return this.#free.pop() ?? new SampleColumns();
  }

  /** Takes columns back, whose rows are not needed any more. */
  give(columns: SampleColumns): void {
    if (this.#free.length >= POOLED || columns.capacity > POOLED_BYTES) return;
    columns.clear();
    this.#free.push(columns);
  }
}
