/** A message as text: each piece is a text node, never markup. */
import type { JSX } from 'preact';
import { lineOf, textPieces, type TextPiece } from './text.ts';
import { bytes } from '../base/format.ts';

type Kept = { readonly terms: readonly string[]; readonly pieces: readonly TextPiece[] };
/** Pieces of lines that were shown lately: a list that is scrolled shows them again. */
const kept = new Map<string, Kept>();
const MOST_KEPT = 2000;

function piecesOf(text: string, terms: readonly string[], withValues: boolean): readonly TextPiece[] {
  if (!withValues || text.length > 2000) return textPieces(text, terms, withValues);
  const known = kept.get(text);
  if (known?.terms === terms) return known.pieces;
  const pieces = textPieces(text, terms, withValues);
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(text, { terms, pieces });
  return pieces;
}

function Pieces({
  text,
  terms,
  withValues,
}: {
  readonly text: string;
  readonly terms: readonly string[];
  readonly withValues: boolean;
}): JSX.Element {
  return (
    <bdi>
      {piecesOf(text, terms, withValues).map((piece, at) =>
        piece.style === 'mark' ? (
          <mark key={at}>{piece.text}</mark>
        ) : piece.style === '' ? (
          piece.text
        ) : (
          <span key={at} class={`m-${piece.style}`.replace(/ /g, ' m-')}>
            {piece.text}
          </span>
        ),
      )}
    </bdi>
  );
}

/** A message in a line of the list; what is too long for it is named. */
export function MessageLine({ text, terms }: { readonly text: string; readonly terms: readonly string[] }): JSX.Element {
  const { text: line, rest } = lineOf(text);
  return (
    <>
      <Pieces text={line} terms={terms} withValues />
      {rest > 0 ? <span class="m-rest">+ {bytes(rest)}</span> : null}
    </>
  );
}

/** Characters of a message that the drawer shows; the rest is in the copy. */
const WHOLE = 200_000;

/** A message as a whole, with its lines. */
export function WholeMessage({ text, terms = [] }: { readonly text: string; readonly terms?: readonly string[] }): JSX.Element {
  const isCut = text.length > WHOLE;
  return (
    <div class="whole-message mono">
      <Pieces text={isCut ? text.slice(0, WHOLE).toWellFormed() : text} terms={terms} withValues={text.length < 10_000} />
      {isCut ? <p class="cap">{bytes(text.length - WHOLE)} more are in the copy.</p> : null}
    </div>
  );
}
