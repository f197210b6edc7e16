/** The last entries and requests that were refused, each with its reason and how it begins. */
import type { JSX } from 'preact';
import { request, useRequest, type AnswerOf } from '../base/api.ts';
import { count } from '../base/format.ts';
import { Button } from '../components/controls.tsx';
import { Time } from '../components/data.tsx';
import { Panel } from '../components/panel.tsx';
import { Busy, ErrorNote } from '../components/states.tsx';
import { copy } from '../components/toasts.tsx';
import { MessageLine } from '../explore/message.tsx';

type Rejection = AnswerOf<'GET /rejections'>['rejections'][number];

function Line({ one }: { readonly one: Rejection }): JSX.Element {
  return (
    <tr>
      <td class="when">
        <Time iso={one.time} />
        {(one.count ?? 1) > 1 ? <span class="cap"> × {count(one.count ?? 1)}</span> : null}
      </td>
      <td>
        <bdi class="mono">{one.path.slice(0, 100)}</bdi> <bdi class="cap">{one.client.slice(0, 60)}</bdi>
      </td>
      <td class="num">{one.status}</td>
      <td class="reason">
        <bdi>{one.reason.slice(0, 400)}</bdi>
        {one.index === null || one.index === undefined ? null : <span class="cap"> entry {one.index} of its request</span>}
      </td>
      <td>
        <span class="mono cut sample" title={one.sample}>
          <MessageLine text={one.sample} terms={[]} />
        </span>
      </td>
      <td>
        <Button
          kind="plain"
          isSmall
          isIcon
          label={`Copy the id of request ${one.request_id}`}
          onClick={() => void copy(one.request_id, 'Id')}
        >
          ⧉
        </Button>
      </td>
    </tr>
  );
}

export function Rejections(): JSX.Element {
  const loaded = useRequest((signal) => request('GET /rejections', {}, signal), []);
  const { value, error, again } = loaded;
  const list = value?.rejections ?? [];
  return (
    <Panel
      title="The last that were refused"
      note={
        <Button isSmall onClick={again}>
          Look again
        </Button>
      }
    >
      <Busy of={loaded} />
      {error === null ? null : <ErrorNote error={error} onAgain={again} />}
      {value !== null && list.length === 0 ? <p class="muted">Nothing was refused lately.</p> : null}
      {list.length === 0 ? null : (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Refused entries and requests">
          <table class="data" data-test="rejections">
            <thead>
              <tr>
                <th scope="col">time</th>
                <th scope="col">path, client</th>
                <th scope="col" class="num">
                  status
                </th>
                <th scope="col">why</th>
                <th scope="col">how it begins</th>
                <th scope="col">request</th>
              </tr>
            </thead>
            <tbody>
              {list.map((one, at) => (
                <Line key={at} one={one} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
