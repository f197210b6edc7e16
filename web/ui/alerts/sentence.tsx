/** A sentence of an alert. What it quotes of logs stands between backticks there, and in the face of logs here, so that the eye can skip it. */
import type { JSX } from 'preact';
import { Template } from '../patterns/template.tsx';

const QUOTED = /`([^`]+)`/;

export function Sentence({ text }: { readonly text: string }): JSX.Element {
  return (
    <bdi>
      {text.split(QUOTED).map((part, at) =>
        at % 2 === 1 ? (
          <code key={at} class="mono quoted">
            <Template text={part} />
          </code>
        ) : (
          part
        ),
      )}
    </bdi>
  );
}
