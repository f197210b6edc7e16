/** The query, the window, and what is done with both. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { setParams } from '../base/route.ts';
import { ApiError } from '../../client/client.ts';
import { Button, Popover } from '../components/controls.tsx';
import { copy } from '../components/toasts.tsx';
import { QueryEditor } from '../editor/editor.tsx';
import type { Known } from '../editor/complete.ts';
import type { Problem } from '../editor/parse.ts';
import { chipsOf, withoutChip } from '../editor/tokens.ts';
import { flipSide, frozenLink, isFolded, isLive, isWrapped, past, query, run } from './state.ts';
import { TimePicker } from './time-picker.tsx';

/** The place of an error of the service's, where it names one. */
function serverProblem(error: Error | null, text: string): Problem | null {
  if (!(error instanceof ApiError) || error.status !== 400) return null;
  const at = /offset (\d+)/.exec(error.message)?.[1];
  if (at === undefined) return null;
  const start = Math.min(Number(at), text.length);
  return { start, end: Math.min(text.length, start + 1), text: error.message };
}

/** Each condition that stands alone, to be removed by one press. */
function Chips(): JSX.Element {
  return (
    <>
      {chipsOf(query.value).map((chip) => (
        <span class="chip" key={`${String(chip.start)} ${chip.field}`}>
          <span class="cut">
            <b>
              {chip.isNot ? 'not ' : ''}
              {chip.field}
            </b>{' '}
            <bdi>{chip.value === '' ? '(none)' : chip.value.slice(0, 80)}</bdi>
          </span>
          <button
            type="button"
            aria-label={`Remove ${chip.isNot ? 'not ' : ''}${chip.field} ${chip.value.slice(0, 80)}`}
            onClick={() => run(withoutChip(query.value, chip))}
          >
            ✕
          </button>
        </span>
      ))}
    </>
  );
}

export type Opened = 'window' | 'export' | 'saved' | 'explain' | 'more' | null;

function More({ isOpen, onOpen }: { readonly isOpen: boolean; readonly onOpen: (what: Opened) => void }): JSX.Element {
  const item = (name: string, act: () => void): JSX.Element => (
    <button
      type="button"
      onClick={() => {
        onOpen(null);
        act();
      }}
    >
      {name}
    </button>
  );
  return (
    <span style={{ position: 'relative' }}>
      <Button isIcon kind="plain" label="More" isExpanded={isOpen} onClick={() => onOpen(isOpen ? null : 'more')}>
        ⋯
      </Button>
      <Popover isOpen={isOpen} onClose={() => onOpen(null)} label="More">
        <div class="menu">
          {item('Saved and earlier searches', () => onOpen('saved'))}
          {item('Export all …', () => onOpen('export'))}
          {item('Copy link', () => void copy(frozenLink(), 'Link'))}
          {item('Fields', flipSide)}
          <hr />
          {item(isWrapped.value ? 'One line for each entry' : 'Wrap long lines', () =>
            setParams({ wrap: isWrapped.value ? null : '1' }, { isReplaced: true }),
          )}
          {item(isFolded.value ? 'Each entry on its own' : 'Fold neighbours that are alike', () =>
            setParams({ fold: isFolded.value ? null : '1' }, { isReplaced: true }),
          )}
          {item('What runs where', () => onOpen('explain'))}
        </div>
      </Popover>
    </span>
  );
}

export function QueryBar({
  known,
  error,
  opened,
  onOpen,
  summary,
}: {
  readonly known: Known;
  readonly error: Error | null;
  readonly opened: Opened;
  readonly onOpen: (what: Opened) => void;
  readonly summary: JSX.Element;
}): JSX.Element {
  const [text, setText] = useState(query.value);
  useEffect(() => setText(query.value), [query.value]);
  const problem = text === query.value ? serverProblem(error, text) : null;
  return (
    <section class="q-bar" aria-label="Query">
      <div class="q-line">
        <QueryEditor value={text} known={known} onChange={setText} onRun={run} past={past.value} problem={problem} />
        <TimePicker isOpen={opened === 'window'} onOpen={(isOpen) => onOpen(isOpen ? 'window' : null)} />
        <Button kind="primary" onClick={() => run(text)} testId="run">
          Run <kbd>⏎</kbd>
        </Button>
        <Button
          isPressed={isLive.value}
          onClick={() => setParams({ live: isLive.value ? null : '1', row: null })}
          title="Entries as they come (l)"
          testId="live"
        >
          <span class={isLive.value ? 'dot ok' : 'dot'} />
          Live
        </Button>
        <More isOpen={opened === 'more'} onOpen={onOpen} />
      </div>
      <div class="q-sub">
        <Chips />
        <span class="grow" />
        {summary}
      </div>
    </section>
  );
}
