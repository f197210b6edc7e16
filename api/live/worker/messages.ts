/** The protocol between the app process and its live worker, in the frames of the query workers: a type, the number of a tail, bytes. */
import type { Config } from '../../../pipeline/core/config.ts';
import type { LiveQueryText } from '../match/live-query.ts';
import type { LogVector } from '../place/log-place.ts';

/** To the worker: its settings, a tail, the end of a tail. */
export const SETTINGS = 1;
export const OPEN = 2;
export const CLOSE = 3;

/**
 * From the worker: it is there; a tail is open, with where it begins; it works on this tail from now on (0: on none that may take long);
 * entries; how far it has read; entries that tails do not get; an error that ends a tail; of how many entries each one that follows is a sample.
 */
export const READY = 20;
export const NOTE = 21;
export const OPENED = 22;
export const ENTRY = 23;
export const READ = 24;
export const MISSED = 25;
export const FAILED = 26;
/** Not 27, which answers a ping in all workers (`frames.ts`). */
export const SAMPLED = 30;

export type LiveSettings = { readonly kafka: Pick<Config['kafka'], 'brokers' | 'tls' | 'sasl'> };

export type OpenTail = LiveQueryText & {
  readonly tenantId: number;
  /** The retention of the tenant: older entries are not theirs. Days; 0: for ever. */
  readonly retentionDays: number;
  /** Where its client was, maybe in another process, which may have read further than this one: it begins there at the earliest. */
  readonly after?: LogVector;
  /** Where it goes on, where it was open before. */
  readonly from: LogVector | null;
  /** It requests a sample where much matches. */
  readonly isSampled?: boolean;
};

/** Where a tail begins; how far the log is read, which may be less; and whether its filter may take long. */
export type OpenedTail = { readonly begin: LogVector; readonly read: LogVector; readonly isHeavy: boolean };

/** Why entries were not sent: their tenant's filters took too long, too many matched, or the log has lost them. */
export type MissedWhy = 'busy' | 'rate' | 'log';

/** Entries that tails do not get: how many (of which it is not known whether they match, where the tenant was `busy`), and when they arrived. */
export type Missed = {
  readonly tails: readonly number[];
  readonly why: MissedWhy;
  readonly count: number;
  /** Milliseconds. */
  readonly since: number;
  readonly until: number;
};

/** What matched: an entry as JSON (or the rows that pipes have made of it, one a line), for these tails. */
export type Matched = {
  readonly tails: readonly number[];
  readonly partition: number;
  readonly offset: number;
  readonly index: number;
  readonly text: Buffer;
};

/** Bytes of a frame of entries: how many tails, their numbers, partition, offset, index, string. Big-endian. */
export function encodeMatched({ tails, partition, offset, index, text }: Omit<Matched, 'text'> & { readonly text: string }): Buffer {
  const head = 4 + 4 * tails.length + 16;
  const bytes = Buffer.allocUnsafe(head + Buffer.byteLength(text));
  bytes.writeUInt32BE(tails.length, 0);
  for (const [place, tail] of tails.entries()) bytes.writeUInt32BE(tail, 4 + 4 * place);
  bytes.writeUInt32BE(partition, head - 16);
  bytes.writeDoubleBE(offset, head - 12);
  bytes.writeUInt32BE(index, head - 4);
  bytes.write(text, head);
  return bytes;
}

export function decodeMatched(bytes: Buffer): Matched {
  const count = bytes.readUInt32BE(0);
  const at = 4 + 4 * count;
  return {
    tails: Array.from({ length: count }, (_none, place) => bytes.readUInt32BE(4 + 4 * place)),
    partition: bytes.readUInt32BE(at),
    offset: bytes.readDoubleBE(at + 4),
    index: bytes.readUInt32BE(at + 12),
    text: bytes.subarray(at + 16),
  };
}
