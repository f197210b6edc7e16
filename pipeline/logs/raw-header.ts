import { headerOf, HEADER_BYTES } from '../clusterer/headers/index.ts';
import { mayBegin } from '../clusterer/headers/may-begin.ts';
import { STRING, type Draft } from './draft.ts';
import { lineHead } from './line-head.ts';

/** The header of a raw line, before its content. */
export type RawHeader = {
  /** As it stands there; null where there is none. */
  readonly level: string | null;
  /** Nanoseconds since the Unix epoch; null where there is none that names its zone. */
  readonly time: bigint | null;
  /** Bytes of the message as it is stored that stand before its content; -1 where they are not known. */
  readonly length: number;
};

const [BACKSLASH, BRACE] = [0x5c, 0x7b];
const NO_HEADER: RawHeader = { level: null, time: null, length: 0 };
const NOT_TEXT: RawHeader = { level: null, time: null, length: -1 };

/** The header of a field's text, where that is a raw line which has one: what stands before its content, as programs write it (docs/patterns.md). */
export function rawHeader(draft: Draft, index: number): RawHeader {
  if (draft.kinds[index] !== STRING) return NOT_TEXT;
  const header = layoutHeader(draft, index);
  if (header.level !== null) return header;
  const source = draft.inArena[index] === 1 ? draft.arena : draft.body;
  const { level, time } = lineHead(source, (draft.starts[index] as number) + 1, (draft.ends[index] as number) - 1, () => draft.text(index));
  return level === null && time === null ? header : { level, time: header.time ?? time, length: header.length };
}

function layoutHeader(draft: Draft, index: number): RawHeader {
  const source = draft.inArena[index] === 1 ? draft.arena : draft.body;
  const [from, to] = [(draft.starts[index] as number) + 1, (draft.ends[index] as number) - 1];
  if (!mayBegin(source, from, to)) return NO_HEADER;
  const isWhole = source[from] === BRACE;
  if (isWhole || source.subarray(from, Math.min(to, from + HEADER_BYTES)).includes(BACKSLASH)) {
    const bytes = Buffer.from(isWhole ? draft.text(index) : draft.text(index).slice(0, HEADER_BYTES));
    const { level, time } = headerOf(bytes, 0, bytes.length);
    return { level, time, length: -1 };
  }
  const { level, time, contentAt, contentEnd } = headerOf(source, from, to);
  const isAtEnd = contentEnd === to;
  return { level, time, length: isAtEnd ? (contentAt < to ? contentAt - from : 0) : -1 };
}
