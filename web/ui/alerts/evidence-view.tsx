/** The parts of an alert's page that show its evidence. Each is there only where the evidence has it. */
import type { JSX } from 'preact';
import { hrefOf, route } from '../base/route.ts';
import { zone } from '../base/settings.ts';
import { shortMoment } from '../base/time.ts';
import { exactly } from '../editor/tokens.ts';
import { MessageLine } from '../explore/message.tsx';
import { figureText, shareText, type Alert, type Evidence } from './evidence.ts';
import { Sentence } from './sentence.tsx';

/** A panel of the page. */
function Panel({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note?: string;
  readonly children: JSX.Element | JSX.Element[];
}): JSX.Element {
  return (
    <section class="panel" aria-label={title}>
      <header class="panel-head">
        <h3 class="grow">{title}</h3>
        {note === undefined ? null : <span class="cap">{note}</span>}
      </header>
      {children}
    </section>
  );
}

/** The figures that tell by how much. */
export function Figures({ evidence }: { readonly evidence: Evidence }): JSX.Element | null {
  const { current, expected, z, mean, templates } = evidence;
  const figures: (readonly [string, string])[] = [];
  if (current !== null) figures.push([figureText(current), 'a minute in the window']);
  if (expected !== null) figures.push([`${figureText(expected.low)} – ${figureText(expected.high)}`, 'usual at this hour']);
  if (current !== null && mean !== null && mean > 0) figures.push([`${figureText(current / mean)} ×`, 'of the usual mean']);
  if (z !== null) figures.push([`z ${figureText(z)}`, 'how far from usual']);
  const [first] = templates;
  if (first !== undefined && figures.length < 4) figures.push([shareText(first.share), 'have the first template']);
  if (figures.length === 0) return null;
  return (
    <dl class="figures">
      {figures.map(([figure, name]) => (
        <div key={name}>
          <dt class="cap">{name}</dt>
          <dd class="figure">{figure}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What the service adds to a description of the shares, which are sentences of their own here. */
const CHANGES = ' What has changed most:';

/** Why it has come, in sentences whose figures are bold. */
export function Why({ alert, evidence }: { readonly alert: Alert; readonly evidence: Evidence }): JSX.Element {
  const { why, openedAt } = evidence;
  const moment = shortMoment(Date.parse(openedAt ?? alert.fired_at), zone.value, Date.now());
  return (
    <Panel title="Why">
      <div class="why">
        <p class="whole">
          <Sentence text={why.length === 0 ? alert.description : (alert.description.split(CHANGES)[0] ?? '')} />
        </p>
        <p>
          It left what is usual at <b>{moment}</b>
          {alert.state === 'firing' ? ' and has stayed out since.' : '.'}
        </p>
        {why.map(({ field, value, share, before }) => (
          <p key={field + value}>
            <b>{shareText(share)}</b> have{' '}
            <code class="mono">
              <bdi>
                {field}={value}
              </bdi>
            </code>
            {before === 0 ? ', which was not there before.' : `; before it was ${shareText(before)}.`}
          </p>
        ))}
      </div>
    </Panel>
  );
}

/** Both shares as two bars a line; each leads to its entries. */
export function WhatChanged({ evidence: { why, link } }: { readonly evidence: Evidence }): JSX.Element | null {
  if (why.length === 0) return null;
  return (
    <Panel title="What changed" note="before · now">
      <ul class="plain-list changed">
        {why.map(({ field, value, share, before }) => (
          <li key={field + value}>
            <a class="mono cut" href={exploreHref(link, exactly(field, value))} title={`${field}=${value}: show its entries`}>
              <bdi>
                {field}={value}
              </bdi>
            </a>
            <span class="shares" aria-hidden="true">
              <i class="then" style={{ width: `${String(100 * Math.min(1, before))}%` }} />
              <i class="now" style={{ width: `${String(100 * Math.min(1, share))}%` }} />
            </span>
            <span class="num faint">{shareText(before)}</span>
            <span class="num strong">{shareText(share)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Explore over the window of the evidence, which is fixed. */
export function exploreHref(link: Evidence['link'], more = ''): string {
  const query = [link?.query ?? '', more].filter((part) => part !== '' && part !== '*').join(' ');
  return hrefOf(route.value.tenant, 'explore', { q: query, from: link?.start, to: link?.end });
}

export function Samples({ evidence: { samples, templates } }: { readonly evidence: Evidence }): JSX.Element | null {
  if (samples.length + templates.length === 0) return null;
  return (
    <Panel title="Samples" note="one of each template">
      <ul class="plain-list samples">
        {samples.map((text, at) => (
          <li key={at} class="mono">
            <MessageLine text={text} terms={[]} />
          </li>
        ))}
      </ul>
      <ul class="plain-list templates">
        {templates.map(({ template, share }) => (
          <li key={template}>
            <span class="num strong">{shareText(share)}</span>
            <span class="mono grow">
              <bdi>{template}</bdi>
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function Traces({ evidence: { traces, link } }: { readonly evidence: Evidence }): JSX.Element | null {
  return <Linked title="Traces" field="trace_id" link={link} ids={traces} />;
}

/** Sessions whose users saw it: what their servers logged is one step away. */
export function Sessions({ evidence: { sessions, link } }: { readonly evidence: Evidence }): JSX.Element | null {
  return <Linked title="Sessions" field="session_id" link={link} ids={sessions.map((id) => ({ id, note: '' }))} />;
}

type LinkedProps = {
  readonly title: string;
  readonly field: string;
  readonly link: Evidence['link'];
  readonly ids: readonly { readonly id: string; readonly note: string }[];
};

/** Ids that lead to all entries of the window that have them in a field. */
function Linked({ title, field, link, ids }: LinkedProps): JSX.Element | null {
  if (ids.length === 0) return null;
  const whole = link === null ? null : { ...link, query: '' };
  return (
    <Panel title={title}>
      <ul class="plain-list templates">
        {ids.map(({ id, note }) => (
          <li key={id}>
            {note !== '' && <span class="num">{note}</span>}
            <a class="mono cut" href={exploreHref(whole, exactly(field, id))}>
              <bdi>{id}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Evidence of a form that the page does not know: a tidy table. */
export function Others({ evidence: { others } }: { readonly evidence: Evidence }): JSX.Element | null {
  if (others.length === 0) return null;
  return (
    <Panel title="More evidence">
      <table class="data others">
        <tbody>
          {others.map(([name, value], at) => (
            <tr key={at}>
              <th scope="row">
                <bdi>{name}</bdi>
              </th>
              <td class="mono">
                <bdi>{value}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
