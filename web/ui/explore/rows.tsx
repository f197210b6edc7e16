/** The list of entries: up to 10,000, of which those on screen are drawn. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { count } from '../base/format.ts';
import { zone } from '../base/settings.ts';
import { clockOf, dateAndClock } from '../base/time.ts';
import { levelKind } from '../base/levels.ts';
import { Level } from '../components/data.tsx';
import { useVirtual } from '../components/virtual.ts';
import { MessageLine } from './message.tsx';
import { idOf, textOf, type Entry } from './entry.ts';
import { RowsHead } from './rows-head.tsx';
import { gapOf } from './gap.ts';
import { GapLine } from './gap-line.tsx';
import { columns, cursor, isWrapped, onScreen } from './state.ts';

const ROW = 22;
const SAMPLE = 200;
/** Rows that are drawn at most, a screen of 4K and more: while the list is scrolled, their elements are used again. */
const RECYCLED = 160;
const [LEAST_WIDTH, MOST_WIDTH] = [6, 26];

/** How wide each column must be for most of its values, in characters. */
function widthsOf(rows: readonly Entry[], names: readonly string[]): string[] {
  const sample = rows.slice(0, SAMPLE);
  return names.map((name) => {
    const longest = Math.max(name.length, ...sample.map((entry) => textOf(entry, name).length));
    return `${String(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, longest)) + 1)}ch`;
  });
}

/** Whether the rows are of more than one day: then the day is shown too. */
function isLong(rows: readonly Entry[]): boolean {
  const [first, last] = [rows[0], rows.at(-1)];
  return first !== undefined && last !== undefined && dateAndClock(textOf(first, '_time'), zone.value).slice(0, 10) !== dateAndClock(textOf(last, '_time'), zone.value).slice(0, 10); // prettier-ignore
}

export type RowsProps = {
  readonly rows: readonly Entry[];
  readonly terms: readonly string[];
  readonly cursor: number;
  readonly opened: string | null;
  readonly onCursor: (index: number) => void;
  readonly onOpen: (entry: Entry) => void;
  readonly onEnd?: () => void;
  readonly onScroll?: (top: number) => void;
  /** How many there are, loaded or not. */
  readonly total: number;
  readonly footer?: ComponentChildren;
  /** Rows that stand for so many that are alike. */
  readonly sizes?: ReadonlyMap<Entry, number>;
};

type RowProps = {
  readonly entry: Entry;
  readonly index: number;
  readonly top: number;
  readonly props: RowsProps;
  readonly withDay: boolean;
  readonly measure: ((at: Element | null) => void) | undefined;
};

function Row({ entry, index, top, props, withDay, measure }: RowProps): JSX.Element {
  const gap = gapOf(entry);
  if (gap !== null) return <GapLine gap={gap} index={index} top={top} measure={measure} />;
  const id = idOf(entry);
  const level = textOf(entry, 'level');
  const iso = textOf(entry, '_time');
  const isOn = props.opened === id;
  const size = props.sizes?.get(entry);
  const names = ['row', isOn ? 'on' : '', index === props.cursor ? 'at' : ''].filter((one) => one !== '').join(' ');
  return (
    <div
      ref={measure ?? null}
      data-index={index}
      id={`row-${String(index)}`}
      class={names}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isOn}
      style={{ transform: `translateY(${String(top)}px)` }}
      onClick={() => {
        if (getSelection()?.isCollapsed === false) return;
        props.onCursor(index);
        props.onOpen(entry);
      }}
    >
      <span class={`edge ${level === '' ? '' : levelKind(level)}`} />
      <span role="gridcell" class="row-time" title={iso}>
        {withDay ? dateAndClock(iso, zone.value).slice(5) : clockOf(iso, zone.value)}
      </span>
      <span role="gridcell">
        <Level level={level} />
      </span>
      {columns.value.map((name) => (
        <span key={name} role="gridcell" class="row-field cut" title={textOf(entry, name).slice(0, 500)}>
          <bdi>{textOf(entry, name).slice(0, 200)}</bdi>
        </span>
      ))}
      <span role="gridcell" class="row-message">
        {size === undefined ? null : (
          <span class="badge alike" title="Neighbours that are alike">
            × {count(size)}
          </span>
        )}
        <MessageLine text={textOf(entry, '_msg')} terms={props.terms} />
      </span>
    </div>
  );
}

/** Tells which times are on screen: entries are the newest first. */
function useOnScreen(newest: Entry | undefined, oldest: Entry | undefined): void {
  const [start, end] = [oldest, newest].map((entry) => (entry === undefined ? Number.NaN : Date.parse(textOf(entry, '_time'))));
  useEffect(() => {
    onScreen.value = Number.isNaN(start) || Number.isNaN(end) ? null : { start: start ?? 0, end: end ?? 0 };
  }, [start, end]);
  useEffect(() => () => void (onScreen.value = null), []);
}

/** The keys of the list; the others are commands of the page. */
function keysOf({ rows, onCursor, onOpen }: RowsProps): (event: KeyboardEvent) => void {
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 };
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = steps[event.key];
    const at = cursor.peek();
    const entry = rows[at];
    if (step !== undefined) {
      event.preventDefault();
      onCursor(Math.max(0, Math.min(rows.length - 1, at + step)));
    } else if (event.key === 'Enter' && entry !== undefined) {
      event.preventDefault();
      onOpen(entry);
    }
  };
}

export function Rows(props: RowsProps): JSX.Element {
  const { rows, cursor: place, total, onEnd, onScroll, footer } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const list = useVirtual({ count: rows.length, size: ROW, scroll, keyOf: (index) => index });
  const withDay = isLong(rows);
  const widths = useMemo(() => widthsOf(rows, columns.value), [rows === props.rows && rows[0], columns.value.join()]);
  const items = list.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useOnScreen(rows[items[0]?.index ?? -1], rows[last]);
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 30) onEnd?.();
  }, [last, rows.length]);
  useEffect(() => {
    if (place >= 0 && place < rows.length) list.scrollToIndex(place, { align: 'auto' });
  }, [place]);
  const template = `3px ${withDay ? '18ch' : '12.5ch'} 16px ${widths.join(' ')} minmax(20ch, 1fr)`;
  return (
    <div
      ref={scroll}
      id="rows"
      class={isWrapped.value ? 'rows wrapped' : 'rows'}
      style={{ '--columns': template }}
      role="grid"
      aria-label={`Entries, ${count(rows.length)} loaded`}
      aria-rowcount={Math.max(total, rows.length) + 1}
      aria-activedescendant={place >= 0 && place < rows.length ? `row-${String(place)}` : undefined}
      tabIndex={0}
      onKeyDown={keysOf(props)}
      onScroll={(event) => onScroll?.(event.currentTarget.scrollTop)}
    >
      <RowsHead />
      <div class="rows-space" role="rowgroup" style={{ height: `${String(list.getTotalSize())}px` }}>
        {items.map(({ index, start }) => {
          const entry = rows[index];
          const measure = isWrapped.value ? (at: Element | null) => list.measureElement(at as HTMLElement | null) : undefined;
          return entry === undefined ? null : (
            <Row key={isWrapped.value ? index : index % RECYCLED} {...{ entry, index, props, withDay, measure }} top={start} />
          );
        })}
      </div>
      {footer}
    </div>
  );
}
