/** What bounds the tenant, how much of it is used, and what ends a refusal. */
import type { JSX } from 'preact';
import { Time } from '../components/data.tsx';
import { Meter, Panel } from '../components/panel.tsx';
import { limitFigure, limitName, type Limit } from './figures.ts';

function Line({ limit }: { readonly limit: Limit }): JSX.Element {
  const { limit: most, used } = limit;
  const part = most === null || most <= 0 || used === null ? null : used / most;
  return (
    <tr>
      <th scope="row">
        <bdi>{limitName(limit.name)}</bdi>
      </th>
      <td class="num">{used === null ? <span title="Only the processes that take data count it.">–</span> : limitFigure(limit, used)}</td>
      <td class="meter-cell">{part === null ? null : <Meter part={part} isOver={part >= 1} />}</td>
      <td class="num">{most === null ? 'no limit' : limitFigure(limit, most)}</td>
      <td>
        {limit.clears_at === null ? (
          <bdi>{limit.clears}</bdi>
        ) : (
          <>
            <Time iso={limit.clears_at} />
          </>
        )}
      </td>
    </tr>
  );
}

export function Limits({ limits }: { readonly limits: readonly Limit[] }): JSX.Element {
  return (
    <Panel title="Limits" note="of the process that answers, where things are counted at once">
      <div class="table-scroll" tabIndex={0} role="region" aria-label="All limits">
        <table class="data">
          <thead>
            <tr>
              <th scope="col">limit</th>
              <th scope="col" class="num">
                used
              </th>
              <td class="head-cell" />
              <th scope="col" class="num">
                of
              </th>
              <th scope="col">a refusal ends</th>
            </tr>
          </thead>
          <tbody>
            {limits.map((limit) => (
              <Line key={limit.name} limit={limit} />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
