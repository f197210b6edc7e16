/** Patterns: what the messages of a window have in common, the differences of two windows, and one pattern's page. */
import '../style/alerts.css';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { request, useRequest, type AnswerOf } from '../base/api.ts';
import { plural, shortCount } from '../base/format.ts';
import { useCommands } from '../base/keys.ts';
import { hrefOf, route, setParams } from '../base/route.ts';
import { Button, Select } from '../components/controls.tsx';
import { Level, Sparkline, Time } from '../components/data.tsx';
import { Busy, Empty, ErrorNote, QuickerWays, Stale, type Way } from '../components/states.tsx';
import { Differences } from './differences.tsx';
import { PatternView } from './pattern-view.tsx';
import { isGone } from './course.ts';
import { Template } from './template.tsx';

type Pattern = AnswerOf<'GET /patterns'>['patterns'][number];
const PAGE = 50;
const SORTS = [['count', 'Most entries'], ['first_seen', 'Newest'], ['last_seen', 'Latest']] as const; // prettier-ignore
const WINDOWS = [['-1h', 'Last hour'], ['-6h', 'Last 6 hours'], ['-24h', 'Last 24 hours'], ['-7d', 'Last 7 days']] as const; // prettier-ignore

const param = (name: string, preset = ''): string => route.value.params.get(name) ?? preset;
const since = (): string => param('since', '-24h');

async function load(offset: number, signal?: AbortSignal): Promise<AnswerOf<'GET /patterns'>> {
  const sort = SORTS.find(([name]) => name === param('sort'))?.[0] ?? 'count';
  const [search, service] = [param('search'), param('service')];
  const query = { ...{ sort, since: since(), limit: PAGE, offset }, ...(search === '' ? {} : { search }), ...(service === '' ? {} : { service }) }; // prettier-ignore
  return request('GET /patterns', { query }, signal);
}

function Line({ pattern }: { readonly pattern: Pattern }): JSX.Element {
  const { fingerprint, normalized_message: template, level = '', count: hits, trend = [], is_new: isNew = false, streams } = pattern;
  const mark = isNew ? 'NEW' : isGone(pattern) ? 'GONE' : '';
  return (
    <li>
      <a class="pattern-line" href={hrefOf(route.value.tenant, 'patterns', {}, fingerprint)}>
        <span class="wide-cell">{mark === '' ? null : <span class={isNew ? 'badge accent' : 'badge'}>{mark}</span>}</span>
        <Level level={level} />
        <span class="template">
          <span class="mono cut" title={template.slice(0, 400)}>
            <Template text={template.slice(0, 1024)} />
          </span>
          <span class="cap cut">
            {mark === '' ? null : <span class={`narrow-only ${isNew ? 'badge accent' : 'badge'}`}>{mark}</span>}{' '}
            <bdi>{streams[0] ?? ''}</bdi>
            {streams.length > 1 ? ` and ${plural(streams.length - 1, 'more stream')}` : ''}
          </span>
        </span>
        <span class="wide-cell">
          <Sparkline values={trend} label={`Trend, ${plural(hits, 'entry', 'entries')}`} tone={isNew ? 'var(--accent)' : 'var(--ink-3)'} />
        </span>
        <span class="num strong">{shortCount(hits)}</span>
        <span class="cap num wide-cell">
          {pattern.last_seen === null ? null : (
            <>
              last <Time iso={pattern.last_seen} />
            </>
          )}
        </span>
      </a>
    </li>
  );
}

function Head({ note, at = null }: { readonly note: string; readonly at?: number | null }): JSX.Element {
  const isDiff = param('view') === 'diff';
  const only = param('only');
  const set = (name: string) => (value: string) => setParams({ [name]: value }, { isReplaced: true });
  return (
    <header class="patterns-head">
      <input class="input search" id="pattern-search" aria-label="Part of the template" placeholder="Part of the template" value={param('search')} onChange={(event) => set('search')(event.currentTarget.value.trim())} />
      <input class="input service" id="pattern-service" aria-label="Service" placeholder="Service" value={param('service')} onChange={(event) => set('service')(event.currentTarget.value.trim())} />
      <Select label="Window" value={since()} options={WINDOWS} onChange={set('since')} />
      {isDiff ? null : (
        <>
          <Select label="Order" value={param('sort', 'count')} options={SORTS} onChange={set('sort')} />
          {(['new', 'gone', 'errors'] as const).map((name) => (
            <Button key={name} isPressed={only === name} onClick={() => set('only')(only === name ? '' : name)}>
              Only {name}
            </Button>
          ))}
        </>
      )}
      <Button isPressed={isDiff} onClick={() => setParams({ view: isDiff ? null : 'diff' })}>
        Compare with before
      </Button>
      <span class="cap">{note}</span>
      <Stale at={at} />
    </header>
  ); // prettier-ignore
}

/** A shorter window, where there is one, and a service. */
function waysOf(): readonly Way[] {
  const at = WINDOWS.findIndex(([from]) => from === since());
  const shorter = at > 0 ? WINDOWS[at - 1] : undefined;
  return [
    ...(shorter === undefined
      ? []
      : [{ name: `Try the ${shorter[1].toLowerCase()}`, run: () => setParams({ since: shorter[0] }, { isReplaced: true }) }]),
    ...(param('service') === '' ? [{ name: 'Name a service', run: () => document.getElementById('pattern-service')?.focus() }] : []),
  ];
}

const isShown = (pattern: Pattern): boolean => {
  const only = param('only');
  if (only === 'new') return pattern.is_new === true;
  if (only === 'gone') return isGone(pattern);
  return only !== 'errors' || /^(?:err|fatal|crit|alert|emerg|panic)/i.test(pattern.level ?? '');
};

function List(): JSX.Element {
  const inputs = ['search', 'service', 'since', 'sort'].map((name) => param(name));
  const first = useRequest((signal) => load(0, signal), inputs);
  const [patterns, setPatterns] = useState<readonly Pattern[]>([]);
  const [hasMore, setHasMore] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    if (first.value === null) return;
    setPatterns(first.value.patterns);
    setHasMore(first.value.has_more);
  }, [first.value]);
  const more = (): void => {
    load(patterns.length).then(
      (answer) => {
        setPatterns((now) => [...now, ...answer.patterns.filter(({ fingerprint }) => !now.some((one) => one.fingerprint === fingerprint))]);
        setHasMore(answer.has_more);
        setError(null);
      },
      (thrown: unknown) => setError(thrown instanceof Error ? thrown : new Error(String(thrown))),
    );
  };
  const shown = patterns.filter(isShown);
  return (
    <>
      <Head at={first.at} note={first.value === null ? '' : `${plural(shown.length, 'pattern')}${hasMore ? ' so far' : ''}`} />
      <Busy of={first} />
      {first.error === null ? null : <ErrorNote error={first.error} onAgain={first.again} />}
      {first.value !== null && shown.length === 0 ? (
        <Empty title="No pattern is like this">
          <p>{hasMore ? 'More may be among those that are not loaded.' : 'Patterns are there some 20 seconds after their first entry.'}</p>
          <Button onClick={() => setParams({ search: null, service: null, only: null, since: '-7d' })}>Show all of 7 days</Button>
        </Empty>
      ) : null}
      <ul class="plain-list" aria-label="Patterns">
        {shown.map((pattern) => (
          <Line key={pattern.fingerprint} pattern={pattern} />
        ))}
      </ul>
      {error === null ? null : <ErrorNote error={error} onAgain={more} />}
      {hasMore ? (
        <div class="more">
          <Button onClick={more}>Load more</Button>
        </div>
      ) : null}
    </>
  );
}

/** Moves the focus between the lines of the list. */
function step(by: number): void {
  const lines = [...document.querySelectorAll<HTMLElement>('.pattern-line, .diff-line')];
  const at = lines.findIndex((line) => line === document.activeElement);
  lines[Math.min(lines.length - 1, Math.max(0, at + by))]?.focus();
}

export default function Patterns(): JSX.Element {
  useCommands([
    { keys: 'j', name: 'Next pattern', section: 'Patterns', run: () => step(1) },
    { keys: 'k', name: 'Pattern before', section: 'Patterns', run: () => step(-1) },
    { keys: '/', name: 'Search templates', section: 'Patterns', run: () => document.getElementById('pattern-search')?.focus() },
  ]);
  const { rest } = route.value;
  if (rest !== '') return <PatternView fingerprint={rest} key={rest} />;
  return (
    <QuickerWays.Provider value={waysOf()}>
      {param('view') !== 'diff' ? (
        <List />
      ) : (
        <>
          <Head note="" />
          <Differences since={since()} service={param('service')} search={param('search')} />
        </>
      )}
    </QuickerWays.Provider>
  );
}
