/** What makes a search that took too long quicker: a shorter window, a filter on a stream. */
import { shorterThan, type Span } from '../base/window.ts';
import type { Way } from '../components/states.tsx';
import { setWindow } from './state.ts';

/** Begins a filter on a stream in the query: the labels of the window's streams are offered there. */
function beginStreamFilter(): void {
  const area = document.getElementById('query');
  if (!(area instanceof HTMLTextAreaElement)) return;
  area.focus();
  area.value = `{} ${area.value}`.trimEnd();
  area.setSelectionRange(1, 1);
  area.dispatchEvent(new Event('input', { bubbles: true }));
}

export function quickerWays(span: Span, query: string): readonly Way[] {
  const minutes = shorterThan(span);
  return [
    ...(minutes === null
      ? []
      : [
          {
            name: minutes === 1 ? 'Try the last minute' : `Try the last ${String(minutes)} minutes`,
            run: () => setWindow({ from: `-${String(minutes)}m`, to: 'now' }),
          },
        ]),
    ...(query.includes('{') ? [] : [{ name: 'Add a stream filter', run: beginStreamFilter }]),
  ];
}
