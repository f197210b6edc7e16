/** Rows of pipes as a chart and as a table. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { plural } from '../base/format.ts';
import { setParams } from '../base/route.ts';
import { isDark, theme, zone } from '../base/settings.ts';
import { dateAndClock } from '../base/time.ts';
import { Button } from '../components/controls.tsx';
import { BusyBar } from '../components/states.tsx';
import { labelOf, seriesOf, shapeOf, type Shape } from './results.ts';
import { textOf, type Entry } from './entry.ts';
import { view } from './state.ts';

/** Rows of a table that are drawn; all are in an export. */
const MOST_DRAWN = 1000;
const MOST_BARS = 30;

const shown = (name: string, text: string): string => (name === '_time' ? dateAndClock(text, zone.value, 0).replace(/\.$/, '') : text);

/** A number with its thousands apart; what is longer than doubles can have stays as it came. */
function numberText(text: string): string {
  const value = Number(text);
  return text === '' || !Number.isFinite(value) || text.replace(/\D/g, '').length > 15
    ? text
    : value.toLocaleString('en-US', { maximumFractionDigits: 3 });
}

function ResultTable({ rows, shape }: { readonly rows: readonly Entry[]; readonly shape: Shape }): JSX.Element {
  const [sort, setSort] = useState<{ readonly by: string; readonly isUp: boolean } | null>(null);
  const sorted = useMemo(() => {
    if (sort === null) return rows;
    const { by, isUp } = sort;
    const compare = shape.numbers.includes(by) ? (a: Entry, b: Entry) => Number(textOf(a, by)) - Number(textOf(b, by)) : (a: Entry, b: Entry) => (textOf(a, by) < textOf(b, by) ? -1 : 1); // prettier-ignore
    return [...rows].sort((a, b) => (isUp ? 1 : -1) * compare(a, b));
  }, [rows, sort]);
  return (
    <div class="result-table" tabIndex={0} role="region" aria-label="Rows">
      <table class="data">
        <thead>
          <tr>
            {shape.columns.map((name) => (
              <th
                key={name}
                class={shape.numbers.includes(name) ? 'num' : ''}
                aria-sort={sort?.by === name ? (sort.isUp ? 'ascending' : 'descending') : undefined}
              >
                <button
                  type="button"
                  class="sort"
                  onClick={() => setSort({ by: name, isUp: sort?.by === name ? !sort.isUp : !shape.numbers.includes(name) })}
                >
                  {name} {sort?.by === name ? (sort.isUp ? '↑' : '↓') : ''}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, MOST_DRAWN).map((row, at) => (
            <tr key={at}>
              {shape.columns.map((name) => (
                <td key={name} class={shape.numbers.includes(name) ? 'num mono' : 'mono'}>
                  <bdi>{shape.numbers.includes(name) ? numberText(textOf(row, name)) : shown(name, textOf(row, name)).slice(0, 1000)}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_DRAWN ? (
        <p class="cap drawer-pad">
          The first {plural(MOST_DRAWN, 'row')} of {plural(rows.length, 'row')}; an export has all.
        </p>
      ) : null}
    </div>
  );
}

/** Bars by group, the largest first as they came. */
function BarChart({ rows, shape }: { readonly rows: readonly Entry[]; readonly shape: Shape }): JSX.Element {
  const by = shape.numbers.at(-1) ?? '';
  const most = Math.max(1e-9, ...rows.slice(0, MOST_BARS).map((row) => Math.abs(Number(textOf(row, by)))));
  return (
    <div class="bar-chart" role="list" aria-label={`${by} by group`}>
      {rows.slice(0, MOST_BARS).map((row, at) => (
        <div key={at} class="bar-line" role="listitem">
          <span class="cut mono" title={labelOf(row, shape, by)}>
            <bdi>{labelOf(row, shape, by)}</bdi>
          </span>
          <span class="bar-track">
            <span class="bar-fill" style={{ width: `${String((100 * Math.abs(Number(textOf(row, by)))) / most)}%` }} />
          </span>
          <span class="num mono">{numberText(textOf(row, by))}</span>
        </div>
      ))}
      {rows.length > MOST_BARS ? <p class="cap">{plural(rows.length - MOST_BARS, 'more group', 'more groups')} in the table.</p> : null}
    </div>
  );
}

/** Lines over time; uPlot is loaded when the first one is drawn. */
function LineChart({ rows, shape }: { readonly rows: readonly Entry[]; readonly shape: Shape }): JSX.Element {
  const at = useRef<HTMLDivElement>(null);
  const [isReady, setReady] = useState(false);
  const { times, series, others } = useMemo(() => seriesOf(rows, shape), [rows]);
  useEffect(() => {
    let end: () => void = () => undefined;
    let isLeft = false;
    void import('../components/lines.ts').then(({ drawLines }) => {
      if (isLeft || at.current === null) return;
      end = drawLines(at.current, { times, series, isUtc: zone.value === 'utc', isDark: isDark() });
      setReady(true);
    });
    return () => {
      isLeft = true;
      end();
    };
  }, [times, series, zone.value, theme.value]);
  return (
    <div class="line-chart">
      <BusyBar isBusy={!isReady} />
      <div ref={at} role="img" aria-label={`${plural(series.length, 'line')} over time; the table has the numbers`} />
      {others > 0 ? <p class="cap">{plural(others, 'smaller line')} only in the table.</p> : null}
    </div>
  );
}

export function ResultView({ rows }: { readonly rows: readonly Entry[] }): JSX.Element {
  const shape = useMemo(() => shapeOf(rows), [rows]);
  const isChart = shape.chart !== null && view.value === 'chart';
  return (
    <section class="results" aria-label="Results">
      <div class="row-of results-head">
        <span class="cap grow">{plural(rows.length, 'row')}</span>
        {shape.chart === null ? null : (
          <Button isSmall isPressed={isChart} onClick={() => setParams({ view: isChart ? 'table' : null }, { isReplaced: true })}>
            Chart
          </Button>
        )}
      </div>
      {isChart ? shape.chart === 'lines' ? <LineChart rows={rows} shape={shape} /> : <BarChart rows={rows} shape={shape} /> : null}
      <ResultTable rows={rows} shape={shape} />
    </section>
  );
}
