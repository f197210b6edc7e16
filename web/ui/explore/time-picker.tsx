/** The window: a list of usual ones, and a box that takes anything pasted. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { zone } from '../base/settings.ts';
import { momentOf, shortMoment, zoneName } from '../base/time.ts';
import { fixed, isRelative, moved, PRESETS, readWindow, spanOf, zoomedOut, type TimeWindow } from '../base/window.ts';
import { Button, Popover } from '../components/controls.tsx';
import { setWindow, timeWindow } from './state.ts';

/** A window in few words. */
function windowName(window: TimeWindow): string {
  if (isRelative(window)) return PRESETS.find(({ from }) => from === window.from)?.name ?? `Last ${window.from.slice(1)}`;
  const { start, end } = spanOf(window, Date.now());
  return `${shortMoment(start, zone.value, Date.now())} – ${shortMoment(end, zone.value, start)}`;
}

/** A time as the fields of the browser have it, in the zone that is shown. */
const fieldOf = (ms: number): string => momentOf(ms, zone.value).replace(' ', 'T').slice(0, 16);
const msOf = (text: string): number => Date.parse(zone.value === 'utc' ? `${text}Z` : text);

function Ends({ onTake }: { readonly onTake: (window: TimeWindow) => void }): JSX.Element {
  const { start, end } = spanOf(timeWindow.value, Date.now());
  const [from, setFrom] = useState(fieldOf(start));
  const [to, setTo] = useState(fieldOf(end));
  const isRight = msOf(from) < msOf(to);
  return (
    <form
      class="stack"
      style={{ gap: '8px' }}
      onSubmit={(event) => {
        event.preventDefault();
        if (isRight) onTake(fixed({ start: msOf(from), end: msOf(to) }));
      }}
    >
      <label class="field">
        <span>From</span>
        <input class="input" type="datetime-local" value={from} onInput={(event) => setFrom(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>To</span>
        <input class="input" type="datetime-local" value={to} onInput={(event) => setTo(event.currentTarget.value)} />
      </label>
      <Button type="submit" reason={isRight ? null : 'It must end after it begins.'}>
        Use these two
      </Button>
    </form>
  );
}

function Pasted({ onTake }: { readonly onTake: (window: TimeWindow) => void }): JSX.Element {
  const [text, setText] = useState('');
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.focus(), []);
  const found = text.trim() === '' ? null : readWindow(text, zone.value, Date.now());
  const isWrong = text.trim() !== '' && found === null;
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault();
        if (found !== null) onTake(found);
      }}
    >
      <input
        ref={box}
        class="input mono"
        aria-label="A time, or a line that has one"
        aria-invalid={isWrong}
        aria-describedby="time-read"
        placeholder="-90m · 22:40-22:45 · a time · a line of a log"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <small id="time-read" role="status">
        {isWrong
          ? 'There is no time in this.'
          : found === null
            ? `Paste anything that has a time. Without a zone it is ${zoneName(zone.value)}.`
            : `${windowName(found)} · Enter`}
      </small>
    </form>
  );
}

export function TimePicker({ isOpen, onOpen }: { readonly isOpen: boolean; readonly onOpen: (open: boolean) => void }): JSX.Element {
  const take = (window: TimeWindow): void => {
    onOpen(false);
    setWindow(window);
  };
  const now = timeWindow.value;
  return (
    <span class="time-picker">
      <Button isIcon kind="plain" label="Earlier by half of it" onClick={() => setWindow(moved(now, -0.5, Date.now()))} class="wide-only">
        ‹
      </Button>
      <Button onClick={() => onOpen(!isOpen)} isExpanded={isOpen} title="Window (t)" testId="window">
        {windowName(now)} <span class="faint">▾</span>
      </Button>
      <Button isIcon kind="plain" label="Later by half of it" onClick={() => setWindow(moved(now, 0.5, Date.now()))} class="wide-only">
        ›
      </Button>
      <Button isIcon kind="plain" label="Twice as long" onClick={() => setWindow(zoomedOut(now, Date.now()))} class="wide-only">
        −
      </Button>
      <Popover isOpen={isOpen} onClose={() => onOpen(false)} label="Window" class="time-float">
        <Pasted onTake={take} />
        <div class="time-columns">
          <div class="menu">
            {PRESETS.map(({ from, name }) => (
              <button key={from} type="button" onClick={() => take({ from, to: 'now' })}>
                {name}
              </button>
            ))}
          </div>
          <Ends onTake={take} />
        </div>
      </Popover>
    </span>
  );
}
