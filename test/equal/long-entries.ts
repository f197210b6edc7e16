/** Entries whose promoted fields have values of any length about the one up to which they are in columns of their own, and far above it. */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { momentText } from '../../logsql/values/times.ts';
import { MAX_PROMOTED_BYTES } from '../../logsql/sql/promoted.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import type { Random } from '../fuzz/random.ts';
import { PIECES, STREAMS, textOfPieces } from './entries.ts';

/** Fields of these entries: those that are promoted, mostly, and one that is not. */
export const PROMOTED_NAMES: readonly string[] = ['host', 'host', 'host', 'app', 'status', 'status', 'pod', 'env', 'a'];

const LENGTHS = [0, 1, 2, 255, 256, 257, 258, 300, 1000];
/** Values that are nearly equal, numbers of many digits, and what stands for a long value in a column. */
const FIXED: readonly string[] = [
  '~'.repeat(MAX_PROMOTED_BYTES),
  '~'.repeat(MAX_PROMOTED_BYTES + 1),
  '~'.repeat(MAX_PROMOTED_BYTES + 2),
  'é'.repeat(128),
  `a${'é'.repeat(128)}`,
  `${'é'.repeat(127)}ab`,
  '😀'.repeat(64),
  `${'😀'.repeat(64)}b`,
  `${'0'.repeat(300)}42`,
  `1.${'0'.repeat(300)}`,
  '1'.repeat(400),
  `-${'9'.repeat(256)}.5`,
  '1s'.repeat(200),
  '1KB'.repeat(100),
  ' '.repeat(257),
  `0x${'0'.repeat(300)}ff`,
];
const SHORT: readonly string[] = ['web-1', 'web-2', 'web 1', '200', '500', '1.5', '10.0.0.1', 'error', 'Error', 'x'];
const BASE = parseTime('2026-11-18T10:00:00Z') ?? 0n;

/** A text of exactly so many bytes: one piece again and again between two others, filled up with letters. */
function textOfLength(random: Random, bytes: number): string {
  const [head, tail] = [textOfPieces(random, 2), textOfPieces(random, 2)];
  const left = bytes - Buffer.byteLength(head + tail);
  if (left < 0) return 'z'.repeat(bytes);
  const piece = random.pick(PIECES);
  const text = head + piece.repeat(Math.floor(left / Buffer.byteLength(piece))) + tail;
  return text + 'z'.repeat(bytes - Buffer.byteLength(text));
}

function valueOf(random: Random): string {
  const kind = random.below(8);
  if (kind < 2) return random.pick(SHORT);
  return kind < 4 ? random.pick(FIXED) : textOfLength(random, random.pick(LENGTHS));
}

/** Entries, oldest first, over some hours, so that counts have them too. */
export function longEntries(random: Random, size: number): LogEntry[] {
  const common = Array.from({ length: 20 }, () => valueOf(random));
  return Array.from({ length: size }, (_none, index) => {
    const row: LogEntry = new Map([
      ['_time', momentText(BASE + BigInt(index) * 60_000_000_000n)],
      ['_stream', random.pick(STREAMS)],
      ['_msg', textOfPieces(random, 4)],
    ]);
    for (const name of new Set(PROMOTED_NAMES)) {
      const text = random.below(3) === 0 ? valueOf(random) : random.pick(common);
      if (text !== '' && random.below(6) > 0) row.set(name, text);
    }
    return row;
  });
}
