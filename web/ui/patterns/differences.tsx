/** What came, went and changed between a window and the one before it. */
import type { JSX } from 'preact';
import { request, useRequest, type AnswerOf } from '../base/api.ts';
import { count } from '../base/format.ts';
import { hrefOf, route } from '../base/route.ts';
import { Busy, Empty, ErrorNote } from '../components/states.tsx';
import { windowsOf } from './course.ts';
import { Template } from './template.tsx';

type Difference = AnswerOf<'GET /patterns/diff'>['new'][number];

function Part({
  title,
  note,
  list,
}: {
  readonly title: string;
  readonly note: string;
  readonly list: readonly Difference[];
}): JSX.Element | null {
  if (list.length === 0) return null;
  return (
    <section class="diff-part" aria-label={title}>
      <h2 class="title">{title}</h2>
      <p class="diff-line cap">
        <span>{note}</span>
        <span class="num">before</span>
        <span class="num">now</span>
        <span class="num wide-cell">expected</span>
      </p>
      <ul class="plain-list">
        {list.map(({ fingerprint, normalized_message: template, a, b, expected }) => (
          <li key={fingerprint}>
            <a class="diff-line" href={hrefOf(route.value.tenant, 'patterns', {}, fingerprint)}>
              <span class="mono cut">
                <Template text={template} />
              </span>
              <span class="num faint">{count(a)}</span>
              <span class="num strong">{count(b)}</span>
              <span class="num faint wide-cell">{count(Math.round(expected))}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Differences({
  since,
  service,
  search,
}: {
  readonly since: string;
  readonly service: string;
  readonly search: string;
}): JSX.Element {
  const loaded = useRequest(
    (signal) =>
      request('GET /patterns/diff', { query: { ...windowsOf(since), limit: 100, ...(service === '' ? {} : { service }) } }, signal),
    [since, service],
  );
  const { value, error, again } = loaded;
  const has = (one: Difference): boolean => one.normalized_message.toLowerCase().includes(search.toLowerCase());
  const parts = value === null ? [] : [value.new, value.gone, value.changed].map((list) => list.filter(has));
  return (
    <>
      <Busy of={loaded} />
      {error === null ? null : <ErrorNote error={error} onAgain={again} />}
      {value !== null && parts.every((list) => list.length === 0) ? (
        <Empty title="Nothing is different">
          <p>The same patterns came as often as in the window before.</p>
        </Empty>
      ) : null}
      <Part title="New" note="came, and were not there before" list={parts[0] ?? []} />
      <Part title="Gone" note="were there, and did not come" list={parts[1] ?? []} />
      <Part title="Changed" note="came more or less often, the strongest first" list={parts[2] ?? []} />
    </>
  );
}
