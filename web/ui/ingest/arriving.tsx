/** What comes now, by key and signal, and what was refused today: looked at every few seconds, while the tab is. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { request, useRequest, type Loaded } from '../base/api.ts';
import { count, plural } from '../base/format.ts';
import { Panel } from '../components/panel.tsx';
import { BusyBar, ErrorNote, Stale } from '../components/states.tsx';
import { rates, rateText, type Taken, type Usage } from '../usage/figures.ts';
import { Refusals } from '../usage/refusals.tsx';

/** As often as it is worth: the processes share what they have counted every three seconds. */
const EVERY_MS = 6000;

/** The usage of today, again and again. */
function useUsageNow(): Loaded<Usage> {
  const [round, setRound] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setRound((count_) => count_ + 1);
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return useRequest((signal) => request('GET /usage', {}, signal), [round]);
}

function Now({ loaded }: { readonly loaded: Loaded<Usage> }): JSX.Element {
  const { value, at } = loaded;
  const [looks, setLooks] = useState<readonly Taken[]>([]);
  useEffect(() => {
    if (value !== null && at !== null) setLooks((before) => [...before, { at, keys: value.keys }].slice(-2));
  }, [value]);
  const [before, now] = looks;
  const coming = before === undefined || now === undefined ? null : rates(before, now);
  const all = value?.keys ?? [];
  return (
    <>
      {coming !== null && coming.length === 0 ? <p class="muted">Nothing has come in the last seconds.</p> : null}
      {coming === null && all.length > 0 ? <p class="muted">Counting …</p> : null}
      <ul class="plain-list" data-test="arriving">
        {all.map((one) => {
          const id = `${one.key_id} ${one.signal}`;
          const rate = coming?.find((own) => own.id === id)?.rate ?? 0;
          return (
            <li key={id} class="row-of arriving">
              <span class={rate > 0 ? 'dot ok' : 'dot'} />
              <bdi class="cut grow">{one.name ?? one.key_id}</bdi>
              <span class="muted">{one.signal}</span>
              <span class="num strong">{rate > 0 ? `${rateText(rate)}/s` : ''}</span>
              <span class="num faint">{count(one.entries)} today</span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

export function Arriving(): JSX.Element {
  const loaded = useUsageNow();
  const { value, error, isBusy, at, again } = loaded;
  return (
    <>
      <Panel title="Coming now" note={value === null ? undefined : plural(value.keys.length, 'key and signal', 'keys and signals')}>
        <Stale at={at} />
        {value === null ? <BusyBar isBusy={isBusy} /> : null}
        {error === null ? null : <ErrorNote error={error} onAgain={again} />}
        {value !== null && value.keys.length === 0 ? <p class="muted">Nothing has come today.</p> : null}
        <Now loaded={loaded} />
      </Panel>
      {value === null ? null : <Refusals refused={value.refused} />}
    </>
  );
}
