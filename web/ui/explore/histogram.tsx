/** Entries over time by level; a drag or the keys choose a part of it. */
import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { request, useRequest } from '../base/api.ts';
import { count, shortCount } from '../base/format.ts';
import { zone } from '../base/settings.ts';
import { momentOf, shortMoment } from '../base/time.ts';
import { before, fixed, type Span } from '../base/window.ts';
import { setParams } from '../base/route.ts';
import { Button } from '../components/controls.tsx';
import { LEVELS, levelKind } from '../base/levels.ts';
import { ErrorNote } from '../components/states.tsx';
import { withFilter } from '../editor/tokens.ts';
import { barsOf, niceTop, stepOf, ticksOf, type Bar } from './bars.ts';
import { isCompared, loadedFrom, onScreen, query, round, run, sentQuery, setWindow, span } from './state.ts';

const HEIGHT = 88;
const iso = (ms: number): string => new Date(ms).toISOString();

async function load(
  text: string,
  of: Span,
  signal: AbortSignal,
): Promise<{ readonly bars: readonly Bar[]; readonly of: Span; readonly step: number; readonly name: string }> {
  const step = stepOf(of);
  const { hits } = await request('GET /hits', { query: { query: text, start: iso(of.start), end: iso(of.end - 1), step: step.name, fields_by: ['level'] } }, signal); // prettier-ignore
  return { bars: barsOf(hits, of, step.ms, levelKind), of, step: step.ms, name: step.name };
}

/** What a drag or the keys have chosen: places of bars. */
type Chosen = { readonly from: number; readonly to: number };

function Bars({
  bars,
  top,
  earlier,
  chosen,
}: {
  readonly bars: readonly Bar[];
  readonly top: number;
  readonly earlier: readonly Bar[];
  readonly chosen: Chosen | null;
}): JSX.Element {
  const many = Math.max(1, bars.length);
  const size = (value: number): number => (value / top) * HEIGHT;
  return (
    <svg class="hist-bars" viewBox={`0 0 ${String(many)} ${String(HEIGHT)}`} preserveAspectRatio="none" aria-hidden="true">
      {chosen === null ? null : (
        <rect
          class="hist-chosen"
          x={Math.min(chosen.from, chosen.to)}
          y={0}
          width={Math.abs(chosen.to - chosen.from) + 1}
          height={HEIGHT}
        />
      )}
      {bars.map(({ counts, total }, at) => {
        let y = HEIGHT;
        // what is not nothing is seen
        const scale = total > 0 ? Math.max(1, size(total)) / total : 0;
        return LEVELS.map((level) => {
          const height = counts[level] * scale;
          y -= height;
          return height <= 0 ? null : (
            <rect key={`${String(at)}${level}`} class={`h-${level}`} x={at + 0.07} y={y} width={0.86} height={height} />
          );
        });
      })}
      {earlier.length === 0 ? null : (
        <polyline
          class="hist-before"
          points={earlier.map(({ total }, at) => `${String(at + 0.5)},${String(HEIGHT - size(total))}`).join(' ')}
        />
      )}
    </svg>
  );
}

/** The pointer and the keys: both choose a part, and zoom into it. */
function useChoice(bars: readonly Bar[], step: number) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const isDragged = useRef(false);
  const placeOf = (event: PointerEvent): number => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return Math.max(0, Math.min(bars.length - 1, Math.floor(((event.clientX - left) / width) * bars.length)));
  };
  const zoom = (of: Chosen): void => {
    const [first, last] = [bars[Math.min(of.from, of.to)], bars[Math.max(of.from, of.to)]];
    setChosen(null);
    if (first !== undefined && last !== undefined) setWindow(fixed({ start: first.start, end: last.start + step }));
  };
  return {
    chosen,
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0 || bars.length === 0) return;
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      isDragged.current = true;
      const at = placeOf(event);
      setChosen({ from: at, to: at });
    },
    onPointerMove: (event: PointerEvent) => {
      if (isDragged.current) setChosen((now) => ({ from: now?.from ?? placeOf(event), to: placeOf(event) }));
    },
    onPointerUp: () => {
      if (isDragged.current && chosen !== null) zoom(chosen);
      isDragged.current = false;
    },
    onKeyDown: (event: KeyboardEvent) => {
      const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (by !== 0) {
        event.preventDefault();
        const from = chosen?.from ?? (by > 0 ? -1 : bars.length);
        const to = Math.max(0, Math.min(bars.length - 1, (chosen?.to ?? from) + by));
        setChosen({ from: event.shiftKey ? Math.max(0, Math.min(bars.length - 1, from)) : to, to });
      } else if (event.key === 'Enter' && chosen !== null) {
        event.preventDefault();
        zoom(chosen);
      } else if (event.key === 'Escape' && chosen !== null) {
        event.stopPropagation();
        setChosen(null);
      }
    },
  };
}

function sumOf(bars: readonly Bar[]): Readonly<Record<string, number>> {
  return Object.fromEntries(LEVELS.map((level) => [level, bars.reduce((sum, { counts }) => sum + counts[level], 0)]));
}

const STEP_WORDS: Readonly<Record<string, string>> = {
  '1m': 'a minute',
  '5m': 'in 5 minutes',
  '15m': 'in 15 minutes',
  '1h': 'an hour',
  '6h': 'in 6 hours',
  '1d': 'a day',
};

function Legend({ bars, name }: { readonly bars: readonly Bar[]; readonly name: string }): JSX.Element {
  const sums = sumOf(bars);
  return (
    <div class="hist-head">
      <h2 class="cap">Entries {STEP_WORDS[name] ?? name}</h2>
      <div class="legends">
        {LEVELS.filter((level) => (sums[level] ?? 0) > 0).map((level) => (
          <button
            key={level}
            type="button"
            class="legend"
            title={`Only ${level}`}
            onClick={() => run(withFilter(query.value, 'level', level, false))}
          >
            <i class={`h-${level}`} />
            {level} <span class="faint">{shortCount(sums[level] ?? 0)}</span>
          </button>
        ))}
      </div>
      <Button
        kind="plain"
        isSmall
        isPressed={isCompared.value}
        onClick={() => setParams({ compare: isCompared.value ? null : '1' }, { isReplaced: true })}
      >
        <span class="wide-only">Compare with the window before</span>
        <span class="narrow-only">Compare</span>
      </Button>
    </div>
  );
}

/** Which part of the bars the list shows now, and which it has not loaded. Drawn by itself, since the list is scrolled often. */
function Parts({ of }: { readonly of: Span }): JSX.Element {
  const place = (at: number): number => Math.max(0, Math.min(100, (100 * (at - of.start)) / (of.end - of.start)));
  const [seen, from] = [onScreen.value, loadedFrom.value];
  return (
    <>
      {from === null ? null : (
        <div class="hist-unloaded" title="Older entries are loaded as the list is scrolled" style={{ width: `${String(place(from))}%` }} />
      )}
      {seen === null ? null : (
        <div
          class="hist-seen"
          style={{ left: `${String(place(seen.start))}%`, width: `${String(place(seen.end) - place(seen.start))}%` }}
        />
      )}
    </>
  );
}

function Axis({ of }: { readonly of: Span }): JSX.Element {
  const most = typeof innerWidth === 'number' && innerWidth < 720 ? 4 : 9;
  return (
    <div class="hist-axis cap" aria-hidden="true">
      {ticksOf(of, most).map((at) => {
        const place = (at - of.start) / (of.end - of.start);
        return place < 0.02 || place > 0.97 ? null : (
          <span key={at} style={{ left: `${String(place * 100)}%` }}>
            {shortMoment(at, zone.value, of.end)}
          </span>
        );
      })}
    </div>
  );
}

/** What the chosen part is, in words. */
function InWords({
  bars,
  chosen,
  step,
}: {
  readonly bars: readonly Bar[];
  readonly chosen: Chosen | null;
  readonly step: number;
}): JSX.Element {
  const [from, to] = chosen === null ? [0, bars.length - 1] : [Math.min(chosen.from, chosen.to), Math.max(chosen.from, chosen.to)];
  const part = bars.slice(from, to + 1);
  const [first, last] = [part[0], part.at(-1)];
  const total = part.reduce((sum, one) => sum + one.total, 0);
  const text =
    first === undefined || last === undefined
      ? ''
      : `${momentOf(first.start, zone.value)} to ${momentOf(last.start + step, zone.value)}: ${count(total)} entries`;
  return (
    <div class={chosen === null ? 'hidden' : 'hist-words'} aria-live="polite">
      {text}
    </div>
  );
}

export function Histogram(): JSX.Element {
  const [text, of, again] = [sentQuery.value, span.value, round.value];
  const now = useRequest((signal) => load(text, of, signal), [text, of.start, of.end, again]);
  const earlier = useRequest(isCompared.value ? (signal) => load(text, before(of), signal) : null, [
    text,
    of.start,
    of.end,
    isCompared.value,
  ]);
  const bars = now.value?.bars ?? [];
  const step = now.value?.step ?? 6e4;
  const old = isCompared.value ? (earlier.value?.bars ?? []) : [];
  const top = useMemo(() => niceTop(Math.max(1, ...bars.map(({ total }) => total), ...old.map(({ total }) => total))), [bars, old]);
  const choice = useChoice(bars, step);
  return (
    <section class="hist" aria-label="Entries over time">
      <Legend bars={bars} name={now.value?.name ?? stepOf(of).name} />
      {now.error === null ? (
        <div
          class={now.isBusy && now.value !== null ? 'hist-plot stale' : 'hist-plot'}
          role="application"
          aria-label="Entries over time: arrows move, Shift and an arrow select, Enter zooms in"
          tabIndex={0}
          {...{
            onPointerDown: choice.onPointerDown,
            onPointerMove: choice.onPointerMove,
            onPointerUp: choice.onPointerUp,
            onKeyDown: choice.onKeyDown,
          }}
        >
          <span class="hist-top cap" aria-hidden="true">
            {bars.every(({ total }) => total === 0) && old.length === 0 ? '' : shortCount(top)}
          </span>
          <Parts of={now.value?.of ?? of} />
          <Bars bars={bars} top={top} earlier={old} chosen={choice.chosen} />
          <InWords bars={bars} chosen={choice.chosen} step={step} />
        </div>
      ) : (
        <ErrorNote error={now.error} onAgain={now.again} />
      )}
      <Axis of={now.value?.of ?? of} />
      {earlier.error === null || !isCompared.value ? null : <ErrorNote error={earlier.error} onAgain={earlier.again} />}
    </section>
  );
}
