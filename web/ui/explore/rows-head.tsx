/** The heads of the columns: moved by a drag or by keys, and removed. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { columns, movedColumn, setColumns } from './state.ts';

/** Its name: Shift and an arrow move it. */
function ColumnName({ name }: { readonly name: string }): JSX.Element {
  const step = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    if (by === 0 || !event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    setColumns(movedColumn(columns.value, name, by));
  };
  return (
    <button
      type="button"
      class="col-name cut"
      title="Drag to move it, or Shift and an arrow"
      aria-description="Shift and an arrow move the column"
      onKeyDown={step}
    >
      <bdi>{name}</bdi>
    </button>
  );
}

function Column({
  name,
  dragged,
  onDrag,
}: {
  readonly name: string;
  readonly dragged: string | null;
  readonly onDrag: (name: string | null) => void;
}): JSX.Element {
  const [isOver, setOver] = useState(false);
  const drop = (): void => {
    setOver(false);
    if (dragged !== null && dragged !== name) setColumns(movedColumn(columns.value, dragged, name));
    onDrag(null);
  };
  return (
    <span
      role="columnheader"
      class={isOver && dragged !== name ? 'row-of col over' : 'row-of col'}
      draggable
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', name);
        onDrag(name);
      }}
      onDragEnd={() => onDrag(null)}
      onDragOver={(event) => {
        if (dragged === null) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        drop();
      }}
    >
      <ColumnName name={name} />
      <button
        type="button"
        class="col-remove"
        aria-label={`Remove the column ${name}`}
        title="Remove the column"
        onClick={() => setColumns(columns.value.filter((one) => one !== name))}
      >
        ✕
      </button>
    </span>
  );
}

export function RowsHead(): JSX.Element {
  const [dragged, setDragged] = useState<string | null>(null);
  return (
    <div class="rows-head" role="row" aria-rowindex={1}>
      <span />
      <span role="columnheader">time</span>
      <span role="columnheader">
        <span class="hidden">level</span>
      </span>
      {columns.value.map((name) => (
        <Column key={name} name={name} dragged={dragged} onDrag={setDragged} />
      ))}
      <span role="columnheader">message</span>
    </div>
  );
}
