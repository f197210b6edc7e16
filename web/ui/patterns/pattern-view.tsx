/** One pattern: its template, history, the values of its placeholders, streams, examples; and a rule that watches it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../base/action.ts';
import { request, useRequest, type AnswerOf } from '../base/api.ts';
import { count, percent, plural } from '../base/format.ts';
import { hrefOf, route } from '../base/route.ts';
import { lacks } from '../base/session.ts';
import { zone } from '../base/settings.ts';
import { shortMoment } from '../base/time.ts';
import { Button, Dialog, Field, Select } from '../components/controls.tsx';
import { Level, Time } from '../components/data.tsx';
import { Busy, Empty, ErrorNote, Pending, Refusal } from '../components/states.tsx';
import { toast } from '../components/toasts.tsx';
import { ApiError } from '../../client/client.ts';
import { WholeMessage } from '../explore/message.tsx';
import { hoursOf } from './course.ts';
import { Template } from './template.tsx';

type Known = AnswerOf<'GET /patterns/{fingerprint}'>;

function Watch({ known, onClose }: { readonly known: Known; readonly onClose: () => void }): JSX.Element {
  const { fingerprint, normalized_message: template } = known.pattern;
  const [name, setName] = useState(template.slice(0, 80));
  const [condition, setCondition] = useState('anomaly up');
  const [limit, setLimit] = useState('0');
  const save = useAction(
    (_given: void, signal) => {
      const rule = { name, query: `_fingerprint:${fingerprint} | stats count()`, every: '5m', if: condition === 'more' ? `value > ${limit}` : condition } as const; // prettier-ignore
      return request('POST /rules', { body: rule }, signal);
    },
    {
      onDone: () => {
        toast('The pattern is watched');
        onClose();
      },
    },
  );
  return (
    <Dialog title="Watch this pattern" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.start();
        }}
      >
        <Field name="Name" note="In the title of its alerts.">
          <input class="input" name="rule" required maxLength={100} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <div class="row-of sensitivity">
          <span>Fires when in five minutes there are</span>
          <Select
            label="When it fires"
            value={condition}
            options={[['anomaly up', 'more than usual'], ['anomaly down', 'fewer than usual'], ['more', 'more than a number']]}
            onChange={setCondition}
          />
          {condition === 'more' ? (
            <input class="input" style={{ width: '96px' }} type="number" min="0" aria-label="Number" value={limit} onInput={(event) => setLimit(event.currentTarget.value)} />
          ) : null}
        </div>
        <Refusal of={save} />
        <div class="row-of">
          <Button kind="primary" type="submit">
            Watch it
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Pending of={save} />
        </div>
      </form>
    </Dialog>
  ); // prettier-ignore
}

/** The share of the most frequent value below which no list of them tells anything. */
const RARE = 0.02;

/** How different values are, where hardly one comes again; null: a list of them tells something. */
function differenceOf(values: readonly { readonly hits: number }[], sampled: number): string | null {
  const most = Math.max(0, ...values.map(({ hits }) => hits));
  if (sampled > 3 && most <= 1) return 'all different';
  return most < RARE * sampled ? 'hardly two alike' : null;
}

function Values({ known: { placeholders, sampled } }: { readonly known: Known }): JSX.Element | null {
  if (placeholders.length === 0) return null;
  return (
    <section class="panel" aria-label="Values">
      <header class="panel-head">
        <h3 class="grow">Values</h3>
        <span class="cap">of the newest {plural(sampled, 'entry', 'entries')}</span>
      </header>
      <div class="panels">
        {placeholders.map(({ placeholder, position, values }) => (
          <div key={position}>
            <h4 class="mono">
              <Template text={placeholder} /> <span class="cap">in place {position + 1}</span>
            </h4>
            {differenceOf(values, sampled) !== null ? (
              <p class="muted cut">
                {differenceOf(values, sampled)}, as{' '}
                <bdi class="mono">
                  {values
                    .slice(0, 3)
                    .map(({ value }) => value.slice(0, 100))
                    .join(', ')}
                </bdi>
              </p>
            ) : (
              values.map(({ value, hits }) => (
                <div key={value} class="value-line">
                  <span class="mono cut" title={value.slice(0, 400)}>
                    <bdi>{value}</bdi>
                  </span>
                  <span class="num faint">{count(hits)}</span>
                  <span class="num">{percent(hits, sampled)}</span>
                </div>
              ))
            )}
          </div>
        ))}
      </div>
    </section>
  );
}

function Example({ title, text }: { readonly title: string; readonly text: string | null }): JSX.Element | null {
  if (text === null) return null;
  return (
    <section class="panel" aria-label={title}>
      <h3>{title}</h3>
      <div class="example" tabIndex={0} role="region" aria-label={`${title} as it came`}>
        <WholeMessage text={text} />
      </div>
    </section>
  );
}

/** What it is, how often it came, and what can be done with it. */
function PatternHead({ pattern, onWatch }: { readonly pattern: Known['pattern']; readonly onWatch: () => void }): JSX.Element {
  const { fingerprint, normalized_message: template, level = '' } = pattern;
  return (
    <>
      <div class="row-of">
        <Level level={level} />
        <span class="cap mono cut" title={fingerprint}>
          {fingerprint.slice(0, 16)}…
        </span>
      </div>
      <h2 class="mono big">
        <Template text={template} />
      </h2>
      <div class="alert-line">
        <p class="muted grow">
          <b>{count(pattern.count)}</b> in 7 days · first <Time iso={pattern.first_seen} />
          {pattern.last_seen === null ? null : (
            <>
              {' '}
              · last <Time iso={pattern.last_seen} />
            </>
          )}
        </p>
        <div class="row-of alert-actions">
          <a class="btn primary" href={hrefOf(route.value.tenant, 'explore', { q: `_fingerprint:${fingerprint}`, from: '-24h' })}>
            Show its logs
          </a>
          <Button onClick={onWatch} reason={lacks('write', 'tenant')}>
            Watch it…
          </Button>
        </div>
      </div>
    </>
  );
}

const [HOUR_MS, FEWEST_HOURS] = [36e5, 24];

/** Bars as wide as there is room, the last one now. */
function History({ hours, end }: { readonly hours: readonly number[]; readonly end: string }): JSX.Element {
  const most = Math.max(1, ...hours);
  const places = Math.max(FEWEST_HOURS, hours.length);
  const last = Math.ceil(Date.parse(end) / HOUR_MS) * HOUR_MS;
  return (
    <section class="panel" aria-label="History">
      <header class="panel-head">
        <h3 class="grow">Entries by hour, of 7 days at most</h3>
        <span class="cap">{count(most)} in the busiest</span>
      </header>
      <svg
        class="history"
        viewBox={`0 0 ${String(places)} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`At most ${count(most)} an hour`}
      >
        {hours.map((hits, at) => {
          const size = hits === 0 ? 0 : Math.max(2, (100 * hits) / most);
          return <rect key={at} x={places - hours.length + at + 0.08} y={100 - size} width={0.84} height={size} fill="var(--accent)" />;
        })}
      </svg>
      <div class="fired-ends cap">
        <span>{shortMoment(last - places * HOUR_MS, zone.value, last)}</span>
        <span>now</span>
      </div>
    </section>
  );
}

function Shown({ known }: { readonly known: Known }): JSX.Element {
  const [isWatching, setWatching] = useState(false);
  const { pattern, history } = known;
  return (
    <>
      <PatternHead pattern={pattern} onWatch={() => setWatching(true)} />
      <History hours={hoursOf(history, known.window.end)} end={known.window.end} />
      <Values known={known} />
      <div class="panels">
        <Example title="First example" text={known.first_example} />
        <Example title="Last example" text={known.last_example} />
      </div>
      <section class="panel" aria-label="Streams">
        <h3>{plural(pattern.streams.length, 'stream')}</h3>
        <ul class="plain-list">
          {pattern.streams.map((stream) => (
            <li key={stream} class="mono cut">
              <bdi>{stream}</bdi>
            </li>
          ))}
        </ul>
      </section>
      {isWatching ? <Watch known={known} onClose={() => setWatching(false)} /> : null}
    </>
  );
}

export function PatternView({ fingerprint }: { readonly fingerprint: string }): JSX.Element {
  const loaded = useRequest(
    (signal) => request('GET /patterns/{fingerprint}', { path: { fingerprint }, query: { since: '-7d' } }, signal),
    [fingerprint],
  );
  const { value, error, again } = loaded;
  const isUnknown = error instanceof ApiError && (error.status === 404 || error.status === 400);
  return (
    <article class="pattern-page" aria-label="Pattern">
      <Busy of={loaded} />
      <a href={hrefOf(route.value.tenant, 'patterns')}>‹ All patterns</a>
      {error !== null && !isUnknown ? <ErrorNote error={error} onAgain={again} /> : null}
      {isUnknown ? (
        <Empty title="There is no such pattern">
          <p>A pattern is forgotten once it has not come for as long as entries are kept.</p>
        </Empty>
      ) : null}
      {value === null ? null : <Shown known={value} />}
    </article>
  );
}
