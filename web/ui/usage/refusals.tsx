/** What was refused on a day, and why. */
import type { JSX } from 'preact';
import { count } from '../base/format.ts';
import { hrefOf, route } from '../base/route.ts';
import { Time } from '../components/data.tsx';
import { Panel } from '../components/panel.tsx';
import type { Usage } from './figures.ts';

export function Refusals({ refused }: { readonly refused: Usage['refused'] }): JSX.Element {
  const { tenant, page } = route.value;
  return (
    <Panel title="Refused" note={page === 'ingest' ? undefined : <a href={hrefOf(tenant, 'ingest')}>The last ones, each by itself</a>}>
      {refused.length === 0 ? (
        <p class="muted">Nothing was refused.</p>
      ) : (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="What was refused">
          <table class="data">
            <thead>
              <tr>
                <th scope="col">signal</th>
                <th scope="col" class="num">
                  status
                </th>
                <th scope="col" class="num">
                  requests
                </th>
                <th scope="col" class="num">
                  entries
                </th>
                <th scope="col">why, as of the last one</th>
                <th scope="col">last</th>
              </tr>
            </thead>
            <tbody>
              {refused.map((one) => (
                <tr key={`${one.signal} ${String(one.status)} ${one.error}`}>
                  <td>{one.signal}</td>
                  <td class="num">{one.status}</td>
                  <td class="num">{count(one.requests)}</td>
                  <td class="num">{count(one.entries)}</td>
                  <td class="reason">
                    <bdi>{one.reason.slice(0, 400)}</bdi> <span class="cap">{one.error}</span>
                  </td>
                  <td class="when">
                    <Time iso={one.last_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
