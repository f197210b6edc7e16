/** Fields that are not among the facets, looked for by the service: each with its most frequent values. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { request, useRequest } from '../base/api.ts';
import { BusyBar, ErrorNote } from '../components/states.tsx';
import { split } from '../editor/tokens.ts';
import { quote } from '../../../logsql/base/reserved.ts';
import { Facet } from './facet.tsx';
import { textOf, type Entry } from './entry.ts';
import { round, sentQuery, span } from './state.ts';

const QUIET_MS = 300;
const [MOST_FIELDS, MOST_VALUES] = [30, 30];

/** Rows of pipes behind the filter that is shown. */
async function rowsOf(pipes: string, signal: AbortSignal): Promise<readonly Entry[]> {
  const [filter] = split(sentQuery.peek());
  const { start, end } = span.peek();
  const query = `${filter === '' ? '*' : filter} | ${pipes}`;
  const body = { query, start: new Date(start).toISOString(), end: new Date(end - 1).toISOString(), limit: 100 };
  const answer = await request('POST /search', { body }, signal);
  return 'logs' in answer ? answer.logs : [];
}

/** A regexp that finds a string as it is. */
const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function Values({ field }: { readonly field: string }): JSX.Element {
  const { value, error, isBusy, again } = useRequest(
    (signal) => rowsOf(`top ${String(MOST_VALUES)} by (${quote(field)}) hits as n`, signal),
    [field, sentQuery.value, round.value],
  );
  if (error !== null) return <ErrorNote error={error} onAgain={again} />;
  if (value === null) return <BusyBar isBusy={isBusy} />;
  return <Facet field={field} values={value.map((row) => ({ value: textOf(row, field), hits: Number(textOf(row, 'n')) }))} />;
}

function Found({ names }: { readonly names: readonly string[] }): JSX.Element {
  const [opened, setOpened] = useState<readonly string[]>([]);
  return (
    <>
      {names.map((name) =>
        opened.includes(name) ? (
          <Values key={name} field={name} />
        ) : (
          <button key={name} type="button" class="more-field" aria-expanded={false} onClick={() => setOpened([...opened, name])}>
            <bdi class="cut">{name}</bdi>
          </button>
        ),
      )}
    </>
  );
}

/** `text`: a part of the name; `known`: those that are listed already. */
export function MoreFields({ text, known }: { readonly text: string; readonly known: readonly string[] }): JSX.Element | null {
  const [rested, setRested] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setRested(text.trim()), QUIET_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const load = async (signal: AbortSignal): Promise<readonly string[]> => {
    const rows = await rowsOf(`field_names | filter name:~${quote(`(?i)${literal(rested)}`)} | sort by (hits desc) limit ${String(MOST_FIELDS)}`, signal); // prettier-ignore
    return rows.map((row) => textOf(row, 'name'));
  };
  const { value, error, isBusy, again } = useRequest(rested === '' ? null : load, [rested, sentQuery.value, round.value]);
  if (text.trim() === '') return null;
  const names = (value ?? []).filter((name) => !known.includes(name) && !['_msg', '_time'].includes(name));
  return (
    <section aria-label="More fields">
      <BusyBar isBusy={isBusy} />
      {error === null ? null : <ErrorNote error={error} onAgain={again} />}
      {names.length === 0 ? null : <h3 class="cap">Less frequent fields</h3>}
      <Found names={names} />
      {value !== null && names.length === 0 && known.length === 0 ? <p class="faint">No field has this name.</p> : null}
    </section>
  );
}
