/** All components in all their states, for those who change the pages. A release does not have it. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../../client/client.ts';
import { Button, Dialog, Field, Popover, Select, Tabs } from '../components/controls.tsx';
import { LEVELS } from '../base/levels.ts';
import { Level, Sparkline, Time } from '../components/data.tsx';
import { Meter, Panel } from '../components/panel.tsx';
import { Busy, BusyBar, Elapsed, Empty, ErrorNote, Pending, Refusal, Stale } from '../components/states.tsx';
import { copy, toast } from '../components/toasts.tsx';

const COLOURS = ['ground', 'surface', 'sunken', 'raised', 'line', 'line-strong', 'ink', 'ink-2', 'ink-3', 'accent', 'accent-soft', 'accent-line', 'error', 'error-soft', 'warn', 'warn-soft', 'info', 'debug', 'ok', 'ok-soft', 'mark']; // prettier-ignore
const FAILED = new ApiError(504, 'The query was stopped after 30 s.', '01J9Z7', null);
const REFUSED = new ApiError(403, 'This key has no “write” scope.', '01J9Z8', null);
const COURSE = [1, 2, 2, 3, 2, 1, 0, 2, 9, 14, 12, 7, 3, 2];

function Part({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <section class="stack">
      <h2 class="title">{name}</h2>
      {children}
    </section>
  );
}

function Buttons(): JSX.Element {
  return (
    <div class="row-of" style={{ flexWrap: 'wrap' }}>
      <Button kind="primary" onClick={() => toast('Done')}>
        Primary <kbd>⏎</kbd>
      </Button>
      <Button>Plain border</Button>
      <Button kind="plain">No border</Button>
      <Button isPressed>Pressed</Button>
      <Button kind="danger">Delete</Button>
      <Button reason="This key has no “write” scope.">Not allowed</Button>
      <Button isSmall>Small</Button>
      <Button isIcon label="Close">
        ✕
      </Button>
    </div>
  );
}

function Choices(): JSX.Element {
  const [tab, setTab] = useState('one');
  const [open, setOpen] = useState<'menu' | 'dialog' | null>(null);
  return (
    <>
      <Tabs
        label="Example"
        current={tab}
        onChange={setTab}
        tabs={[
          { id: 'one', name: 'Fields' },
          { id: 'two', name: 'JSON' },
        ]}
      />
      <div class="row-of">
        <span style={{ position: 'relative' }}>
          <Button isExpanded={open === 'menu'} onClick={() => setOpen('menu')}>
            Menu ▾
          </Button>
          <Popover isOpen={open === 'menu'} onClose={() => setOpen(null)} label="Example" align="left">
            <div class="menu">
              <button type="button">One</button>
              <button type="button">Two</button>
            </div>
          </Popover>
        </span>
        <Button onClick={() => setOpen('dialog')}>Dialog</Button>
        <Select
          label="Severity"
          value="all"
          onChange={() => undefined}
          options={[
            ['all', 'All severities'],
            ['critical', 'Critical'],
          ]}
        />
      </div>
      {open === 'dialog' ? (
        <Dialog title="A dialog" onClose={() => setOpen(null)}>
          <Field name="Note" note="Seen by everyone of the tenant.">
            <textarea class="input" rows={3} />
          </Field>
        </Dialog>
      ) : null}
    </>
  );
}

/** What was refused, what runs, and how old something is while the service is not reached. */
function States(): JSX.Element {
  const [since] = useState(performance.now());
  const [isBusy, setBusy] = useState(true);
  const running = { isBusy, since, cancel: () => setBusy(false) };
  return (
    <>
      <Panel title="A panel" note="bytes of today">
        <Meter part={0.6} />
        <Meter part={1} isOver />
      </Panel>
      <BusyBar isBusy />
      <Busy of={running} />
      <ErrorNote error={FAILED} onAgain={() => undefined} />
      <Refusal of={{ error: REFUSED, again: () => undefined }} />
      <div class="row-of">
        <Button kind="primary" onClick={() => void copy('copied', 'Word')}>
          Save
        </Button>
        <Pending of={running} />
        <Elapsed since={since} />
        <Stale at={Date.now() - 60_000} />
      </div>
    </>
  );
}

export default function Styleguide(): JSX.Element {
  return (
    <div class="page-pad stack" style={{ gap: '32px' }}>
      <Part name="Colours">
        <div class="row-of" style={{ flexWrap: 'wrap' }}>
          {COLOURS.map((name) => (
            <div key={name} style={{ width: '92px' }}>
              <div style={{ height: '32px', background: `var(--${name})`, border: '1px solid var(--line)', borderRadius: '6px' }} />
              <span class="cap">{name}</span>
            </div>
          ))}
        </div>
      </Part>
      <Part name="Type">
        <div class="figure">12,431</div>
        <div class="title">A title</div>
        <div>Body, with figures that line up: 1,111 and 8,888</div>
        <div class="mono">mono: GET /items/91 500 331ms</div>
        <div class="cap">A caption</div>
      </Part>
      <Part name="Buttons">
        <Buttons />
      </Part>
      <Part name="Choices">
        <Choices />
      </Part>
      <Part name="Entries">
        <div class="row-of">
          {LEVELS.map((level) => (
            <Level key={level} level={level} />
          ))}
          <Time iso="2026-11-20T22:44:35.041812377Z" digits={3} />
          <Sparkline values={COURSE} label="Entries by hour" tone="var(--error)" />
          <span class="badge">7</span>
          <span class="badge error">3 firing</span>
          <span class="badge warn">2</span>
          <span class="badge ok">well</span>
          <span class="chip">
            <b>env</b> prod
            <button type="button" aria-label="Remove env">
              ✕
            </button>
          </span>
        </div>
      </Part>
      <Part name="States">
        <States />
        <div class="note warn">Read as: the words pod and error.</div>
        <Empty title="Nothing here yet">
          <p>What may be done about it stands here.</p>
          <Button>Do it</Button>
        </Empty>
      </Part>
    </div>
  );
}
