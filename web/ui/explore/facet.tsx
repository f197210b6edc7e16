/** One field with its values, and filters in and out. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { count, percent } from '../base/format.ts';
import { chipsOf, onlyFilter, withFilter } from '../editor/tokens.ts';
import { columns, query, run, setColumns } from './state.ts';

export type FacetOne = { readonly value: string; readonly hits: number };
const FIRST = 5;

function FacetValue({
  field,
  one,
  most,
  all,
}: {
  readonly field: string;
  readonly one: FacetOne;
  readonly most: number;
  readonly all: number;
}): JSX.Element {
  const chosen = chipsOf(query.value).some((chip) => chip.field === field && chip.value === one.value && !chip.isNot);
  const shown = one.value === '' ? '(none)' : one.value;
  const filter = (isNot: boolean): void => run(withFilter(query.value, field, one.value, isNot));
  return (
    <li class={chosen ? 'facet-value on' : 'facet-value'}>
      <span class="facet-bar" style={{ width: `${String((100 * one.hits) / most)}%` }} />
      <button
        type="button"
        class="facet-name"
        title={`${field}: ${shown}, ${count(one.hits)} (${percent(one.hits, all)})`}
        onClick={() => filter(false)}
      >
        <span class="cut">
          <bdi>{shown.slice(0, 200)}</bdi>
        </span>
        <span class="facet-count">{count(one.hits)}</span>
      </button>
      <span class="facet-tools">
        <button
          type="button"
          title="Only this"
          aria-label={`Only ${field} ${shown}`}
          onClick={() => run(onlyFilter(query.value, field, one.value))}
        >
          only
        </button>
        <button type="button" title="Without this" aria-label={`Without ${field} ${shown}`} onClick={() => filter(true)}>
          ≠
        </button>
      </span>
    </li>
  );
}

export function Facet({ field, values }: { readonly field: string; readonly values: readonly FacetOne[] }): JSX.Element {
  const [isAll, setAll] = useState(false);
  const all = values.reduce((sum, { hits }) => sum + hits, 0);
  const most = Math.max(1, ...values.map(({ hits }) => hits));
  const isColumn = columns.value.includes(field);
  const shown = isAll ? values : values.slice(0, FIRST);
  return (
    <section class="facet" aria-label={field}>
      <h3>
        <span class="cut grow" title={field}>
          <bdi>{field}</bdi>
        </span>
        <button
          type="button"
          class="facet-column"
          aria-pressed={isColumn}
          title={isColumn ? 'Remove the column' : 'Show as a column'}
          aria-label={`Column ${field}`}
          onClick={() => setColumns(isColumn ? columns.value.filter((name) => name !== field) : [...columns.value, field])}
        >
          {isColumn ? '−' : '+'}
        </button>
        <span class="faint">{values.length}</span>
      </h3>
      <ul>
        {shown.map((one) => (
          <FacetValue key={one.value} field={field} one={one} most={most} all={all} />
        ))}
      </ul>
      {values.length > FIRST ? (
        <button type="button" class="more" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
          {isAll ? 'fewer' : `${String(values.length - FIRST)} more`}
        </button>
      ) : null}
    </section>
  );
}
