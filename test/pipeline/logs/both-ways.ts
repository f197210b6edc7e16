import { expect } from 'chai';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { EntryCodec, EntryWriter, type Rejection, type WriterOptions } from '../../../pipeline/logs/writer.ts';
import { codec, DEFAULTS } from './entry-lines.ts';

/** Reads everything in TypeScript. */
export const plainCodec = new EntryCodec(null);

/** All that can be seen of how a request was taken. */
type Outcome = {
  readonly total: number;
  readonly accepted: number;
  readonly outOfBounds: number;
  readonly rejected: readonly Rejection[];
  /** The status and text of what was thrown. */
  readonly thrown: string;
  /** The values of its records, and the streams of their headers. */
  readonly records: readonly string[];
};

function outcomeOf(by: EntryCodec, options: Partial<WriterOptions>, fill: (out: EntryWriter) => void): Outcome {
  const out = new EntryWriter(by, { ...DEFAULTS, ...options });
  let thrown = '';
  try {
    fill(out);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    thrown = `${String(error.status)} ${error.message}`;
  }
  const { total, accepted, outOfBounds, rejected } = out;
  const records = out.chunks().map((chunk) => {
    const streams = JSON.stringify([...chunk.streams.toMap()]);
    return `${String(chunk.partition)} ${String(chunk.count)} ${streams} ${chunk.encode().toString('base64')}`;
  });
  return { total, accepted, outOfBounds, rejected, thrown, records };
}

/** Checks that entries become the same records, to the byte, with the scanner and without; the scanner knows what names it has met. */
export function expectSameAsPlain(fill: (out: EntryWriter) => void, options: Partial<WriterOptions> = {}): void {
  const plain = outcomeOf(plainCodec, options, fill);
  const scanned = outcomeOf(codec, options, fill);
  // as texts first, since there may be many rejections
  if (JSON.stringify(scanned) !== JSON.stringify(plain)) expect(scanned).to.deep.equal(plain);
}

/** The same, both where the scanner meets their names and where it knows them. */
export function expectBothWays(fill: (out: EntryWriter) => void, options: Partial<WriterOptions> = {}): void {
  expectSameAsPlain(fill, options);
  expectSameAsPlain(fill, options);
}
