import { headerOf, type Header } from '../clusterer/headers/index.ts';
import { mayBegin } from '../clusterer/headers/may-begin.ts';
import { STRING, type Draft } from './draft.ts';

/** Bytes of a message in which its header may stand. */
const HEAD = 512;
const [BACKSLASH, BRACE] = [0x5c, 0x7b];

/** The header of a field's text, where that is a raw line which has one: what stands before its content, as programs write it (docs/patterns.md). */
export function rawHeader(draft: Draft, index: number): Header | null {
  if (draft.kinds[index] !== STRING) return null;
  const source = draft.inArena[index] === 1 ? draft.arena : draft.body;
  const [from, to] = [(draft.starts[index] as number) + 1, (draft.ends[index] as number) - 1];
  if (!mayBegin(source, from, to)) return null;
  const isEscaped = source.subarray(from, Math.min(to, from + HEAD)).includes(BACKSLASH);
  const isWhole = source[from] === BRACE;
  const bytes = isEscaped || isWhole ? Buffer.from(isWhole ? draft.text(index) : draft.text(index).slice(0, HEAD)) : source;
  const header = bytes === source ? headerOf(source, from, to) : headerOf(bytes, 0, bytes.length);
  return header.layout === '' ? null : header;
}
