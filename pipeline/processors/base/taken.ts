import { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import type { Source } from './partial.ts';

/** The last partial of a source that was taken, and the latest append time of all of them, milliseconds. */
type Last = { offset: number; number: number; appendedAt: number };

/** A log has no more partitions. */
const MAX_PARTITIONS = 65_535;

/**
 * Which partials of a processor a partition has had, by the partition of the log that they come from. Each owner of it emits the same
 * partials in the same order, and writes none before those ahead of it are written; so the last one taken stands for all of them.
 */
export class Taken {
  readonly #last = new Map<number, Last>();

  /** True for a partial that was not there before, which counts as taken from then on. */
  take({ partition, offset, number, appendedAt }: Source): boolean {
    const last = this.#last.get(partition);
    if (last === undefined) {
      this.#last.set(partition, { offset, number, appendedAt });
      return true;
    }
    const isBeyond = offset > last.offset || (offset === last.offset && number > last.number);
    // the log lost its end, and gave the offset to another record, which came after all that were taken
    const isOther = offset < last.offset && appendedAt > last.appendedAt;
    if (!isBeyond && !isOther) return false;
    Object.assign(last, { offset, number, appendedAt: Math.max(appendedAt, last.appendedAt) });
    return true;
  }

  write(to: ByteWriter): void {
    to.count(this.#last.size);
    for (const [partition, { offset, number, appendedAt }] of [...this.#last].sort(([a], [b]) => a - b))
      for (const value of [partition, offset, number, appendedAt]) to.count(value);
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): Taken {
    const taken = new Taken();
    for (let left = from.count(MAX_PARTITIONS); left > 0; left--)
      taken.#last.set(from.count(MAX_PARTITIONS), { offset: from.count(), number: from.count(), appendedAt: from.count() });
    return taken;
  }
}
