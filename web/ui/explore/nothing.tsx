/** When nothing was found, or the query was refused: why, and what to do next. */
import type { JSX } from 'preact';
import { request, useRequest } from '../base/api.ts';
import { plural } from '../base/format.ts';
import { hrefOf, route } from '../base/route.ts';
import { spanOf } from '../base/window.ts';
import { Button } from '../components/controls.tsx';
import { Empty, ErrorNote } from '../components/states.tsx';
import { meantOf } from '../editor/fix.ts';
import { chipsOf, split, withoutChip } from '../editor/tokens.ts';
import { textOf, type Entry } from './entry.ts';
import { respelt } from './misspelt.ts';
import { query, run, sentQuery, setWindow, span } from './state.ts';

const MOST_NAMES = 1000;
const WIDER: readonly (readonly [from: string, name: string])[] = [
  ['-24h', 'the last 24 hours'],
  ['-7d', 'the last 7 days'],
];

async function countOf(text: string, start: number, end: number, signal: AbortSignal): Promise<number> {
  const { hits } = await request('GET /hits', { query: { query: text, start: new Date(start).toISOString(), end: new Date(end).toISOString(), step: '1d' } }, signal); // prettier-ignore
  return hits.reduce((sum, one) => sum + one.hits, 0);
}

/** Fields of the window, the most frequent first. */
async function namesOf(start: number, end: number, signal: AbortSignal): Promise<readonly string[]> {
  const body = { query: `* | field_names | sort by (hits desc) limit ${String(MOST_NAMES)}`, start: new Date(start).toISOString(), end: new Date(end).toISOString(), limit: MOST_NAMES }; // prettier-ignore
  const answer = await request('POST /search', { body }, signal);
  return 'logs' in answer ? (answer.logs as readonly Entry[]).map((row) => textOf(row, 'name')) : [];
}

/** What would find something: names that were misspelt, each condition left out, and longer windows. */
async function ways(signal: AbortSignal) {
  const { start, end } = span.peek();
  const text = query.peek();
  const filterOf = (whole: string): string => split(whole)[0] || '*';
  const without = chipsOf(text).slice(0, 4).map((chip) => ({ name: `without ${chip.field} ${chip.value.slice(0, 60)}`, next: withoutChip(text, chip) })); // prettier-ignore
  const longer = WIDER.filter(([from]) => spanOf({ from, to: 'now' }, Date.now()).start < start);
  const names = without.length === 0 ? [] : await namesOf(start, end, signal);
  const [spelt, fewer, wider] = await Promise.all([
    Promise.all(
      respelt(text, names)
        .slice(0, 4)
        .map(async (one) => ({ ...one, hits: await countOf(filterOf(one.next), start, end, signal) })),
    ),
    Promise.all(without.map(async (one) => ({ ...one, hits: await countOf(filterOf(one.next), start, end, signal) }))),
    Promise.all(longer.map(async ([from, name]) => ({ from, name, hits: await countOf(filterOf(sentQuery.peek()), spanOf({ from, to: 'now' }, Date.now()).start, Date.now(), signal) }))), // prettier-ignore
  ]);
  return {
    spelt: spelt.filter(({ hits }) => hits > 0),
    fewer: fewer.filter(({ hits }) => hits > 0),
    wider: wider.filter(({ hits }) => hits > 0),
  };
}

export function Nothing({ hints }: { readonly hints: readonly string[] }): JSX.Element {
  const { value, isBusy } = useRequest(ways, [query.value, span.value.start, span.value.end]);
  const isAll = query.value === '';
  return (
    <Empty title={isAll ? 'No entries in this window' : 'Nothing matches'}>
      {isAll ? null : <p class="mono cut">{query.value}</p>}
      <Hints hints={hints} />
      {value === null && isBusy ? <p class="muted">Looking for what would find something …</p> : null}
      <div class="stack" style={{ alignItems: 'center', gap: '8px' }}>
        {value?.spelt.map(({ from, to, next, hits }) => (
          <Button key={to} kind="primary" onClick={() => run(next)}>
            {plural(hits, 'entry', 'entries')} with <b class="mono">{to}</b> in place of <span class="mono cut">{from.slice(0, 60)}</span>
          </Button>
        ))}
        {value?.fewer.map(({ name, next, hits }) => (
          <Button key={name} onClick={() => run(next)}>
            {plural(hits, 'entry', 'entries')} {name}
          </Button>
        ))}
        {value?.wider.map(({ from, name, hits }) => (
          <Button key={from} onClick={() => setWindow({ from, to: 'now' })}>
            {plural(hits, 'entry', 'entries')} in {name}
          </Button>
        ))}
      </div>
      {value !== null && value.spelt.length + value.fewer.length + value.wider.length === 0 ? (
        <>
          <p>Nothing in the last 7 days either.</p>
          {isAll ? (
            <a class="btn primary" href={hrefOf(route.value.tenant, 'start')}>
              Send the first log
            </a>
          ) : null}
        </>
      ) : null}
    </Empty>
  );
}

/** What the service has to tell of a query that may be meant otherwise; with what it may have been meant to be. */
export function Hints({ hints }: { readonly hints: readonly string[] }): JSX.Element | null {
  const meant = meantOf(query.value);
  if (hints.length === 0) return null;
  return (
    <div class="hints" role="status" data-test="hints">
      {hints.map((hint) => (
        <p key={hint} class="note warn">
          <span class="grow">{hint}</span>
          {meant === null ? null : (
            <Button isSmall onClick={() => run(meant)}>
              Run <span class="mono cut">{meant.slice(0, 80)}</span>
            </Button>
          )}
        </p>
      ))}
    </div>
  );
}

/** An error in place of the list. */
export function Refused({ error, onAgain }: { readonly error: Error; readonly onAgain: () => void }): JSX.Element {
  return (
    <div class="drawer-pad">
      <ErrorNote error={error} onAgain={onAgain} />
    </div>
  );
}
