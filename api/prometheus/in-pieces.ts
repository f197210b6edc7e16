import type { EngineAnswer } from '../query/engine.ts';

/** An answer with more characters is sent in pieces of about PIECE_LENGTH while it is made, so that it is never there as a whole. */
const LONG = 1024 * 1024;
const PIECE_LENGTH = 32 * 1024;
const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };

/** An answer in JSON, of texts that follow each other: whole, or where it is long, a stream that makes them as it is taken. */
export function inPieces(texts: Iterable<string>): string | EngineAnswer {
  const rest = pieces(texts);
  let head = '';
  while (head.length <= LONG) {
    const next = rest.next();
    if (next.done === true) return head;
    head += next.value;
  }
  return { headers: JSON_TYPE, stream: following(head, rest) };
}

function* pieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

function* following(head: string, rest: Iterable<string>): Generator<string> {
  yield head;
  yield* rest;
}
