/** What the tail does, in figures that add up. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { count } from '../base/format.ts';
import { Button } from '../components/controls.tsx';
import type { LiveState } from './live.ts';

const WORDS: Readonly<Record<LiveState['status'], string>> = {
  connecting: 'connecting …',
  live: 'live',
  lost: 'connection lost, connecting again …',
  refused: 'refused',
};
const SPOKEN_MS = 5000;

/** For readers of screens: a sentence every five seconds, not every entry. */
function Spoken({ live }: { readonly live: LiveState }): JSX.Element {
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setInterval(() => setText(`${count(live.seen)} entries so far`), SPOKEN_MS);
    return () => clearInterval(timer);
  }, [live.seen]);
  return (
    <span class="hidden" role="status">
      {text}
    </span>
  );
}

export function LiveHead({
  live,
  isPaused,
  onPause,
}: {
  readonly live: LiveState;
  readonly isPaused: boolean;
  readonly onPause: (isPaused: boolean) => void;
}): JSX.Element {
  const { status, rate, seen, waiting, dropped, detail } = live;
  return (
    <span class="row-of muted" data-test="live-state">
      <Button isSmall onClick={() => onPause(!isPaused)} title="Pause or go on (Space)">
        {isPaused ? '▶ Go on' : '❚❚ Pause'}
      </Button>
      <span class={status === 'live' ? 'dot ok' : status === 'refused' ? 'dot error' : 'dot warn'} />
      <span>{isPaused && status === 'live' ? 'paused' : WORDS[status]}</span>
      <span>{count(rate)}/s</span>
      <span class="wide-only">{count(seen)} seen</span>
      {isPaused ? <b>{count(waiting)} waiting</b> : null}
      <span class={dropped > 0 ? 'badge warn' : 'faint'}>{count(dropped)} dropped</span>
      {detail === '' ? null : <span class="badge error">{detail}</span>}
      <Spoken live={live} />
    </span>
  );
}
