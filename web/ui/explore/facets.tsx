/** The most frequent values of each field, with filters in and out. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AnswerOf, Loaded } from '../base/api.ts';
import { plural } from '../base/format.ts';
import { ErrorNote } from '../components/states.tsx';
import { Facet, type FacetOne } from './facet.tsx';
import { MoreFields } from './more-fields.tsx';

export type Facets = AnswerOf<'GET /facets'>;
const ALWAYS = ['level', 'service'];

/** Level and service first, then the fields that most entries have. */
function ordered(facets: Facets['facets']): [string, readonly FacetOne[]][] {
  const coverage = (values: readonly FacetOne[]): number => values.reduce((sum, { value, hits }) => sum + (value === '' ? 0 : hits), 0);
  const rank = (name: string): number => (ALWAYS.includes(name) ? ALWAYS.indexOf(name) : name === '_stream' ? 99 : 50);
  return Object.entries(facets as Record<string, FacetOne[]>).filter(([, values]) => values.some(({ value }) => value !== '')).sort(([a, one], [b, two]) => rank(a) - rank(b) || coverage(two) - coverage(one)); // prettier-ignore
}

export function FacetPanel({ loaded }: { readonly loaded: Loaded<Facets> }): JSX.Element {
  const [text, setText] = useState('');
  const { value, error, isBusy, again } = loaded;
  const found = value === null ? [] : ordered(value.facets).filter(([name]) => name.toLowerCase().includes(text.toLowerCase()));
  return (
    <aside class={isBusy && value !== null ? 'side stale' : 'side'} aria-label="Fields" id="fields">
      <h2 class="hidden">Fields</h2>
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
      <MoreFields text={text} known={found.map(([name]) => name)} />
      {value !== null && value.truncated_fields > 0 ? (
        <p class="cap">{plural(value.truncated_fields, 'field')} not shown: look for one by its name.</p>
      ) : null}
    </aside>
  );
}
