/** A template: its words as text, its placeholders in the colour of values. */
import type { JSX } from 'preact';

const TOKEN = /(<(?:\*|[A-Z]{1,8})>)/;

export function Template({ text }: { readonly text: string }): JSX.Element {
  return (
    <bdi>
      {text.split(TOKEN).map((piece, at) =>
        at % 2 === 1 ? (
          <span key={at} class="token">
            {piece}
          </span>
        ) : (
          piece
        ),
      )}
    </bdi>
  );
}
