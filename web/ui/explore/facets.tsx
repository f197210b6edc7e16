/** The most frequent values of each field, with filters in and out. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AnswerOf, Loaded } from '../base/api.ts';
import { count, percent, plural } from '../base/format.ts';
import { ErrorNote } from '../components/states.tsx';
import { chipsOf, onlyFilter, withFilter } from '../editor/tokens.ts';
import { columns, query, run, setColumns } from './state.ts';

export type Facets = AnswerOf<'GET /facets'>;
type Value = { readonly value: string; readonly hits: number };

const FIRST = 5;
const ALWAYS = ['level', 'service'];

/** Level and service first, then the fields that most entries have. */
function ordered(facets: Facets['facets']): [string, readonly Value[]][] {
  const coverage = (values: readonly Value[]): number => values.reduce((sum, { value, hits }) => sum + (value === '' ? 0 : hits), 0);
  const rank = (name: string): number => (ALWAYS.includes(name) ? ALWAYS.indexOf(name) : name === '_stream' ? 99 : 50);
  return Object.entries(facets as Record<string, Value[]>).filter(([, values]) => values.some(({ value }) => value !== '')).sort(([a, one], [b, two]) => rank(a) - rank(b) || coverage(two) - coverage(one)); // prettier-ignore
}

function FacetValue({
  field,
  one,
  most,
  all,
}: {
  readonly field: string;
  readonly one: Value;
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

function Facet({ field, values }: { readonly field: string; readonly values: readonly Value[] }): JSX.Element {
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

export function FacetPanel({ loaded }: { readonly loaded: Loaded<Facets> }): JSX.Element {
  const [text, setText] = useState('');
  const { value, error, isBusy, again } = loaded;
  const found = value === null ? [] : ordered(value.facets).filter(([name]) => name.toLowerCase().includes(text.toLowerCase()));
  return (
    <aside class={isBusy && value !== null ? 'side stale' : 'side'} aria-label="Fields" id="fields">
      <input
        class="input"
        type="search"
        aria-label="Find a field"
        placeholder="Find a field"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {error === null ? null : <ErrorNote error={error} onAgain={again} />}
      {value === null && isBusy
        ? Array.from({ length: 4 }, (_none, at) => <div key={at} class="skeleton" style={{ height: '104px', marginBottom: '14px' }} />)
        : null}
      {found.map(([name, values]) => (
        <Facet key={name} field={name} values={values} />
      ))}
      {value !== null && found.length === 0 && text !== '' ? <p class="faint">No field has this name.</p> : null}
      {value !== null && value.truncated_fields > 0 ? (
        <p class="cap">{plural(value.truncated_fields, 'field')} not shown: a narrower query has fewer.</p>
      ) : null}
    </aside>
  );
}
