import { invalidParameter } from '../../../pipeline/core/errors.ts';

/** How far the log is read: of each partition the offset of a record, and how many of its entries, all before which was looked at. */
export type LogVector = readonly (readonly [offset: number, index: number])[];

/** How far the log is read: all entries before it were looked at. */
export class LogPlace {
  readonly vector: LogVector;
  #text: string | null = null;

  constructor(vector: LogVector) {
    this.vector = vector;
  }

  /** The place behind an entry. */
  after(partition: number, offset: number, index: number): LogPlace {
    const vector = [...this.vector];
    while (vector.length <= partition) vector.push([0, 0]);
    vector[partition] = [offset, index + 1];
    return new LogPlace(vector);
  }

  /** The later of this place and another one, partition by partition. */
  orLater(other: LogVector): LogPlace {
    const length = Math.max(this.vector.length, other.length);
    return new LogPlace(
      Array.from({ length }, (_none, partition) => {
        const [own, its] = [this.vector[partition] ?? START, other[partition] ?? START];
        return own[0] > its[0] || (own[0] === its[0] && own[1] > its[1]) ? own : its;
      }),
    );
  }

  /** True where all that comes before this place comes before the other one too. */
  isWithin(ends: readonly number[]): boolean {
    return this.vector.every(([offset, index], partition) => (ends[partition] ?? 0) >= offset + (index > 0 ? 1 : 0));
  }

  /** This place, but for the partitions of a log with these ends that do not have it: it is at their beginnings. */
  within(ends: readonly number[]): LogPlace {
    return new LogPlace(this.vector.map((own, partition) => ((ends[partition] ?? 0) >= own[0] + (own[1] > 0 ? 1 : 0) ? own : START)));
  }

  /** Whether both are the same place. */
  isAt(other: LogPlace): boolean {
    return this.toString() === other.toString();
  }

  /** The place as it is sent to clients. */
  toString(): string {
    this.#text ??= this.vector.map(([offset, index]) => offset.toString(36) + (index === 0 ? '' : `.${index.toString(36)}`)).join('_');
    return this.#text;
  }
}

const START = [0, 0] as const;
/** As many partitions as the log can have. */
const MAX_PARTITIONS = 4096;
const PART = /^([0-9a-z]{1,10})(?:\.([0-9a-z]{1,7}))?$/;

/** Reads what `LogPlace.toString` has written. Throws HttpError 400. */
export function readPlace(text: string): LogPlace {
  const parts = text.split('_', MAX_PARTITIONS + 1);
  if (parts.length > MAX_PARTITIONS) throw badPosition();
  return new LogPlace(
    parts.map((part) => {
      const [, offset = '', index = '0'] = PART.exec(part) ?? [];
      const numbers = [parseInt(offset, 36), parseInt(index, 36)] as const;
      if (!numbers.every((number) => Number.isSafeInteger(number)) || numbers[1] > 0xffff_ffff) throw badPosition();
      return numbers;
    }),
  );
}

export const badPosition = (): Error => invalidParameter('`resume` is not a position that this service has given.');
