/** What was in the stream right before and after an entry. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { request, useLater, useRequest } from '../base/api.ts';
import { zone } from '../base/settings.ts';
import { clockOf } from '../base/time.ts';
import { Button } from '../components/controls.tsx';
import { Level } from '../components/data.tsx';
import { BusyBar, ErrorNote } from '../components/states.tsx';
import { MessageLine } from './message.tsx';
import { idOf, isRecent, textOf, type Entry } from './entry.ts';
import { openRow } from './state.ts';

const MORE = 10;
const DAY_MS = 864e5;

async function logsOf(
  body: { query: string; start: string; end: string; limit: number; before?: string },
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const answer = await request('POST /search', { body }, signal);
  return 'logs' in answer ? answer.logs : [];
}

/** Entries of one moment come after it: its neighbours, itself among them. */
async function around(entry: Entry, back: number, forth: number, signal: AbortSignal): Promise<readonly Entry[]> {
  const time = textOf(entry, '_time');
  const at = Date.parse(time);
  const stream = `_stream:${textOf(entry, '_stream')}`;
  const [earlier, later] = await Promise.all([
    logsOf({ query: stream, start: new Date(at - DAY_MS).toISOString(), end: time, before: time, limit: back }, signal),
    logsOf(
      {
        query: `${stream} | sort by (_time) limit ${String(forth + 1)}`,
        start: time,
        end: new Date(at + DAY_MS).toISOString(),
        limit: forth + 1,
      },
      signal,
    ),
  ]);
  return [...later.toReversed(), ...earlier];
}

export function ContextTab({ entry }: { readonly entry: Entry }): JSX.Element {
  const [back, setBack] = useState(MORE);
  const [forth, setForth] = useState(MORE);
  const id = idOf(entry);
  const loaded = useRequest((signal) => around(entry, back, forth, signal), [id, back, forth]);
  const { value, error, isBusy, again } = loaded;
  useLater(loaded, value !== null && !value.some((one) => idOf(one) === id) && isRecent(entry));
  if (error !== null) return <ErrorNote error={error} onAgain={again} />;
  return (
    <div class="context">
      <BusyBar isBusy={isBusy} />
      <p class="drawer-pad cap cut" title={textOf(entry, '_stream')}>
        Newest first, in <bdi class="mono">{textOf(entry, '_stream')}</bdi>
      </p>
      <Button isSmall kind="plain" onClick={() => setForth(forth + MORE)}>
        ▲ {MORE} later
      </Button>
      <ol>
        {(value ?? []).map((one, at) => (
          <li key={at} class={idOf(one) === id ? 'context-line on' : 'context-line'} aria-current={idOf(one) === id ? 'true' : undefined}>
            <button type="button" onClick={() => openRow(idOf(one))} title="Open this entry">
              {clockOf(textOf(one, '_time'), zone.value)}
            </button>
            <Level level={textOf(one, 'level')} />
            <span class="context-text">
              <MessageLine text={textOf(one, '_msg')} terms={[]} />
            </span>
          </li>
        ))}
      </ol>
      <Button isSmall kind="plain" onClick={() => setBack(back + MORE)}>
        ▼ {MORE} earlier
      </Button>
    </div>
  );
}
