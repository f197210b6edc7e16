/** One entry: its fields, as JSON, what was around it, its pattern, its trace. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { setParams } from '../base/route.ts';
import { zone } from '../base/settings.ts';
import { dateAndClock } from '../base/time.ts';
import { Button, Tabs } from '../components/controls.tsx';
import { Level } from '../components/data.tsx';
import { copy } from '../components/toasts.tsx';
import { withFilter } from '../editor/tokens.ts';
import { ContextTab } from './context-tab.tsx';
import { WholeMessage } from './message.tsx';
import { PatternTab } from './pattern-tab.tsx';
import { idOf, textOf, type Entry } from './entry.ts';
import { columns, frozenLink, openRow, query, run, setColumns, tab } from './state.ts';
import { TraceTab } from './trace-tab.tsx';

const FIRST = ['_time', 'level', 'service', '_stream'];
/** Characters of a value that the list of fields shows. */
const SHOWN = 2000;

/** The fields in their order: those that all have first, the message apart. */
function fieldsOf(entry: Entry): string[] {
  const names = Object.keys(entry).filter((name) => name !== '_msg' && textOf(entry, name) !== '');
  return [...FIRST.filter((name) => names.includes(name)), ...names.filter((name) => !FIRST.includes(name)).sort()];
}

function FieldLine({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  const isColumn = columns.value.includes(name);
  return (
    <div class="kv" role="listitem">
      <span class="kv-name cut" title={name}>
        <bdi>{name}</bdi>
      </span>
      <span class="kv-value mono">
        <bdi>{value.slice(0, SHOWN)}</bdi>
        {value.length > SHOWN ? ' …' : ''}
      </span>
      <span class="kv-tools">
        <button
          type="button"
          title="Only with this"
          aria-label={`Only with ${name} ${value.slice(0, 80)}`}
          onClick={() => run(withFilter(query.value, name, value, false))}
        >
          =
        </button>
        <button
          type="button"
          title="Without this"
          aria-label={`Without ${name} ${value.slice(0, 80)}`}
          onClick={() => run(withFilter(query.value, name, value, true))}
        >
          ≠
        </button>
        <button
          type="button"
          title={isColumn ? 'Remove the column' : 'Show as a column'}
          aria-label={`Column ${name}`}
          aria-pressed={isColumn}
          onClick={() => setColumns(isColumn ? columns.value.filter((one) => one !== name) : [...columns.value, name])}
        >
          {isColumn ? '−' : '+'}
        </button>
        <button type="button" title="Copy" aria-label={`Copy ${name}`} onClick={() => void copy(value, name)}>
          ⧉
        </button>
      </span>
    </div>
  );
}

function FieldsTab({ entry }: { readonly entry: Entry }): JSX.Element {
  return (
    <div class="kvs" role="list">
      {fieldsOf(entry).map((name) => (
        <FieldLine key={name} name={name} value={textOf(entry, name)} />
      ))}
    </div>
  );
}

export const jsonOf = (entry: Entry): string => JSON.stringify(entry, null, 2);

function JsonTab({ entry }: { readonly entry: Entry }): JSX.Element {
  const text = jsonOf(entry);
  return (
    <div class="drawer-pad stack">
      <Button isSmall onClick={() => void copy(text, 'JSON')}>
        Copy
      </Button>
      <pre class="mono json" tabIndex={0}>
        <bdi>{text.slice(0, 200_000)}</bdi>
      </pre>
    </div>
  );
}

/** An entry has a trace where a shipper sent its id, by one of the usual names. */
const traceOf = (entry: Entry): string =>
  ['trace_id', 'traceid', 'traceId', 'trace.id'].map((name) => textOf(entry, name)).find((id) => id !== '') ?? '';

function Content({ entry, id }: { readonly entry: Entry; readonly id: string }): JSX.Element {
  if (id === 'json') return <JsonTab entry={entry} />;
  if (id === 'context') return <ContextTab entry={entry} />;
  if (id === 'pattern') return <PatternTab entry={entry} />;
  if (id === 'trace') return <TraceTab traceId={traceOf(entry)} />;
  return <FieldsTab entry={entry} />;
}

export function Drawer({ entry, terms }: { readonly entry: Entry; readonly terms: readonly string[] }): JSX.Element {
  const top = useRef<HTMLDivElement>(null);
  const id = idOf(entry);
  useEffect(() => top.current?.scrollTo({ top: 0 }), [id, tab.value]);
  const tabs = [
    { id: 'fields', name: 'Fields' },
    { id: 'json', name: 'JSON' },
    { id: 'context', name: 'Context' },
    { id: 'pattern', name: 'Pattern' },
    ...(traceOf(entry) === '' ? [] : [{ id: 'trace', name: 'Trace' }]),
  ];
  const shown = tabs.some((one) => one.id === tab.value) ? tab.value : 'fields';
  return (
    <aside class="drawer" aria-label="Entry" data-test="drawer">
      <div class="drawer-head">
        <Level level={textOf(entry, 'level')} />
        <strong class="cut">
          <bdi>{textOf(entry, 'service') === '' ? 'Entry' : textOf(entry, 'service')}</bdi>
        </strong>
        <span class="faint cut grow" title={textOf(entry, '_time')}>
          {dateAndClock(textOf(entry, '_time'), zone.value)}
        </span>
        <Button kind="plain" isSmall onClick={() => void copy(frozenLink(id), 'Link')} title="Copy a link to this entry (y)">
          Copy link
        </Button>
        <Button kind="plain" isSmall isIcon label="Close" onClick={() => openRow(null)}>
          ✕
        </Button>
      </div>
      <div class="drawer-message">
        <WholeMessage text={textOf(entry, '_msg')} terms={terms} />
      </div>
      <Tabs
        label="Parts of the entry"
        tabs={tabs}
        current={shown}
        onChange={(next) => setParams({ tab: next === 'fields' ? null : next }, { isReplaced: true })}
      />
      <div class="drawer-body" ref={top} tabIndex={0} role="tabpanel" aria-label={tabs.find((one) => one.id === shown)?.name}>
        <Content entry={entry} id={shown} key={`${id} ${shown}`} />
      </div>
    </aside>
  );
}
