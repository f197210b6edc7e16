/** A part of a page with a title: it loads and fails on its own. */
import type { ComponentChildren, JSX } from 'preact';

export function Panel({
  title,
  note,
  children,
  class: name = '',
}: {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}): JSX.Element {
  return (
    <section class={`panel ${name}`} aria-label={title}>
      <header class="panel-head">
        <h2 class="title grow">{title}</h2>
        {note === undefined ? null : <span class="cap">{note}</span>}
      </header>
      {children}
    </section>
  );
}

/** A part of a whole as a bar; `isOver`: the whole is reached. */
export function Meter({ part, isOver = false }: { readonly part: number; readonly isOver?: boolean }): JSX.Element {
  return (
    <span class={isOver ? 'meter over' : 'meter'} aria-hidden="true">
      {part > 0 ? <i style={{ width: `${String(Math.min(100, 100 * part))}%` }} /> : null}
    </span>
  );
}
