import { expect } from 'chai';
import { isDeepStrictEqual } from 'node:util';
import type { LogEntry } from '../../../pipeline/core/entry.ts';
import { httpErrorOf } from '../../../pipeline/core/errors.ts';
import { entriesIn } from '../../../pipeline/logs/columns/row-reader.ts';
import type { StreamDays } from '../../../pipeline/logs/record-streams.ts';
import type { Rejected } from '../../../pipeline/intake/rejections.ts';
import { readStreams } from '../../fakes/log-record.ts';
import { EntryCodec, EntryWriter, type WriterOptions } from '../../../pipeline/logs/writer.ts';
import { codec, DEFAULTS } from './entry-lines.ts';

/** Reads everything in TypeScript. */
const plainCodec = new EntryCodec(null);

/** The record that a chunk becomes, and what its header says of streams. */
export type TakenRecord = {
  readonly partition: number;
  readonly count: number;
  readonly streams: ReadonlyMap<string, StreamDays>;
  readonly value: Buffer;
};

/** All that can be seen of how a request was taken. */
export type Taken = {
  readonly total: number;
  readonly accepted: number;
  readonly outOfBounds: number;
  readonly rejected: Rejected;
  /** The HttpError that was thrown. */
  readonly thrown: { readonly status: number; readonly detail: string } | null;
  readonly records: readonly TakenRecord[];
};

type Fill = (out: EntryWriter) => void;

/** Fills a writer, and encodes what it holds. */
export function taken(fill: Fill, options: Partial<WriterOptions> = {}, by: EntryCodec = codec): Taken {
  const out = new EntryWriter(by, { ...DEFAULTS, ...options });
  let thrown: Taken['thrown'] = null;
  try {
    fill(out);
  } catch (caught) {
    const error = httpErrorOf(caught);
    if (error === null) throw caught;
    thrown = { status: error.status, detail: error.message };
  }
  const { total, accepted, outOfBounds, rejected } = out;
  const records = out.chunks().map((chunk) => {
    const { partition, count } = chunk;
    return { partition, count, streams: readStreams(chunk.streams).toMap(), value: chunk.encode().value };
  });
  return { total, accepted, outOfBounds, rejected, thrown, records };
}

/** Checks that entries become the same records with the scanner and without; the scanner knows what names it has met. */
export function expectSameAsPlain(fill: Fill, options: Partial<WriterOptions> = {}): void {
  expectSame(taken(fill, options), taken(fill, options, plainCodec));
}

/** The same, both where the scanner meets their names and where it knows them. Gives what came out. */
export function expectBothWays(fill: Fill): Taken {
  const plain = taken(fill, {}, plainCodec);
  expectSame(taken(fill), plain);
  const again = taken(fill);
  expectSame(again, plain);
  return again;
}

/**
 * There may be a million rejections: chai looks at them only where they differ. Where names are forgotten in the middle of a request,
 * which is at another one for each codec, the dictionaries of its records have another order: then what is in them counts.
 */
function expectSame(scanned: Taken, plain: Taken): void {
  if (!isDeepStrictEqual(scanned, plain)) expect(readable(scanned)).to.deep.equal(readable(plain));
}

const readable = (all: Taken): unknown => ({
  ...all,
  records: all.records.map((record) => ({ ...record, value: entriesOfRecord(record) })),
});

/** The entries of a record, read back. */
export const entriesOfRecord = ({ value, count, streams }: TakenRecord): LogEntry[] =>
  entriesIn(value, count, (id) => streams.get(id)?.text ?? `no stream ${id}`);
