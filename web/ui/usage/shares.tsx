/** Who and what sends: shares of a day by signal, service and key. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { bytes, count, percent, plural } from '../base/format.ts';
import { hrefOf, route } from '../base/route.ts';
import { quote } from '../../../logsql/base/reserved.ts';
import { Button } from '../components/controls.tsx';
import { Meter, Panel } from '../components/panel.tsx';
import type { Usage } from './figures.ts';

const FEW = 8;

export function Signals({ days, day }: { readonly days: Usage['days']; readonly day: string }): JSX.Element {
  const of = days.find((one) => one.day === day);
  const signals = Object.entries((of?.signals ?? {}) as Record<string, number>).sort(([, a], [, b]) => b - a);
  const all = signals.reduce((sum, [, size]) => sum + size, 0);
  return (
    <Panel title="By signal" note="bytes">
      {all === 0 ? <p class="muted">Nothing was sent.</p> : null}
      <ul class="plain-list shares-list">
        {signals
          .filter(([, size]) => size > 0)
          .map(([name, size]) => (
            <li key={name}>
              <span class="grow cut">{name}</span>
              <span class="num">{bytes(size)}</span>
              <span class="num faint">{percent(size, all)}</span>
              <Meter part={size / all} />
            </li>
          ))}
      </ul>
    </Panel>
  );
}

/** What is named leads to its entries. */
export function Services({ services, hints }: { readonly services: Usage['services']; readonly hints: readonly string[] }): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const list = services ?? [];
  const all = list.reduce((sum, { entries }) => sum + entries, 0);
  return (
    <Panel title="By service" note="entries of logs">
      {hints.map((hint) => (
        <p key={hint} class="note warn">
          {hint}
        </p>
      ))}
      {services !== null && list.length === 0 ? <p class="muted">No entry is of this day.</p> : null}
      <ul class="plain-list shares-list">
        {list.slice(0, isWhole ? list.length : FEW).map(({ service, entries }) => (
          <li key={service}>
            <a class="grow cut" href={hrefOf(route.value.tenant, 'explore', { q: `service:=${quote(service)}`, from: '-24h' })}>
              <bdi>{service === '' ? '(none)' : service.slice(0, 200)}</bdi>
            </a>
            <span class="num">{count(entries)}</span>
            <span class="num faint">{percent(entries, all)}</span>
            <Meter part={entries / all} />
          </li>
        ))}
      </ul>
      {list.length <= FEW ? null : (
        <Button isSmall isExpanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Only the first' : `All ${plural(list.length, 'service')}`}
        </Button>
      )}
    </Panel>
  );
}

export function Keys({ keys }: { readonly keys: Usage['keys'] }): JSX.Element {
  return (
    <Panel title="By key">
      {keys.length === 0 ? (
        <p class="muted">No key has sent anything.</p>
      ) : (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Keys">
          <table class="data">
            <thead>
              <tr>
                <th scope="col">key</th>
                <th scope="col">signal</th>
                {['bytes', 'entries', 'requests'].map((name) => (
                  <th key={name} scope="col" class="num">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {keys.map((key) => (
                <tr key={`${key.key_id} ${key.signal}`}>
                  <td class="key-name">
                    <bdi class="cut">{key.name ?? (key.key_id === '' ? 'all other keys' : 'deleted')}</bdi>{' '}
                    <span class="cap mono">{key.key_id}</span>
                  </td>
                  <td>{key.signal}</td>
                  <td class="num">{bytes(key.bytes)}</td>
                  <td class="num">{count(key.entries)}</td>
                  <td class="num">{count(key.requests)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
