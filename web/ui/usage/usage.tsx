/** What the tenant uses: today and by day, by signal, service and key; what bounds it, what was refused, and what it costs. */
import '../style/alerts.css';
import '../style/usage.css';
import type { JSX } from 'preact';
import { request, useRequest } from '../base/api.ts';
import { bytes, count, percent } from '../base/format.ts';
import { useCommands } from '../base/keys.ts';
import { route, setParams } from '../base/route.ts';
import { lacks, signOut } from '../base/session.ts';
import { agoOf } from '../base/time.ts';
import { Button, Select } from '../components/controls.tsx';
import { Meter, Panel } from '../components/panel.tsx';
import { Busy, Empty, ErrorNote, Stale } from '../components/states.tsx';
import { forecast, type Usage as Answer } from './figures.ts';
import { Limits } from './limits.tsx';
import { Refusals } from './refusals.tsx';
import { Keys, Services, Signals } from './shares.tsx';

type Day = Answer['days'][number];

const dayParam = (): string => route.value.params.get('day') ?? '';
/** Midnight, at which a day begins anew. */
const untilMidnight = (): string => agoOf(Math.ceil(Date.now() / 864e5) * 864e5);

function money(dollars: number, currency: string): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency, minimumFractionDigits: 2 }).format(dollars);
}

/** The day in four figures. */
function Figures({ answer }: { readonly answer: Answer }): JSX.Element | null {
  const [today] = answer.days;
  if (today === undefined) return null;
  const goes = forecast(today.bytes, Date.now());
  const stop = today.ceiling_bytes ?? today.included_bytes;
  const { price } = answer;
  const figures: readonly (readonly [figure: string, name: string])[] = [
    [bytes(today.bytes), `today${today.pending_bytes > 0 ? `, ${bytes(today.pending_bytes)} of it being written` : ''}`],
    today.included_bytes === null
      ? ['no limit', `in the plan ${answer.plan}`]
      : [bytes(today.included_bytes), `included in the plan ${answer.plan}, full again ${untilMidnight()}`],
    ...(goes === null
      ? []
      : [[bytes(goes), stop !== null && goes > stop ? 'at this pace: more than the day may have' : 'at this pace by 00:00 UTC'] as const]),
    ...(price.per_gb_over === null
      ? []
      : [[money(today.cost, price.currency), `beyond it, ${money(price.per_gb_over, price.currency)} a GB`] as const]),
  ];
  return (
    <dl class="figures" data-test="usage-figures">
      {figures.map(([figure, name]) => (
        <div key={name}>
          <dt class="cap">{name}</dt>
          <dd class="figure">{figure}</dd>
        </div>
      ))}
    </dl>
  );
}

function DayLine({ day, most, currency }: { readonly day: Day; readonly most: number; readonly currency: string }): JSX.Element {
  const { included_bytes: included } = day;
  return (
    <tr>
      <td>{day.day}</td>
      <td class="num">{bytes(day.bytes)}</td>
      <td class="meter-cell">
        <Meter part={day.bytes / most} isOver={included !== null && day.bytes >= included} />
      </td>
      <td class="num">{included === null ? '–' : percent(day.bytes, included)}</td>
      <td class="num">{bytes(day.over_bytes)}</td>
      <td class="num">{money(day.cost, currency)}</td>
    </tr>
  );
}

function Days({ answer }: { readonly answer: Answer }): JSX.Element {
  const most = Math.max(1, ...answer.days.map((day) => Math.max(day.bytes, day.included_bytes ?? 0)));
  return (
    <Panel title="By day" note="bytes of bodies that were accepted, UTC">
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Days">
        <table class="data">
          <thead>
            <tr>
              <th scope="col">day</th>
              <th scope="col" class="num">
                sent
              </th>
              <td class="head-cell" />
              <th scope="col" class="num">
                of the included
              </th>
              <th scope="col" class="num">
                beyond it
              </th>
              <th scope="col" class="num">
                cost
              </th>
            </tr>
          </thead>
          <tbody>
            {answer.days.map((day) => (
              <DayLine key={day.day} day={day} most={most} currency={answer.price.currency} />
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

/** Which day the parts below are of. */
function DayHead({ answer, at }: { readonly answer: Answer; readonly at: number | null }): JSX.Element {
  const days = answer.days.map(({ day }, index) => [day, index === 0 ? `Today, ${day}` : day] as const);
  return (
    <div class="row-of usage-day">
      <h2 class="title grow">{answer.day === answer.days[0]?.day ? 'Of today' : `Of ${answer.day}`}</h2>
      <Stale at={at} />
      <Select
        label="Day"
        value={answer.day}
        options={days}
        onChange={(day) => setParams({ day: day === days[0]?.[0] ? null : day }, { isReplaced: true })}
      />
    </div>
  );
}

/** A key of a project has no usage of its own. */
function NotShown({ reason }: { readonly reason: string }): JSX.Element {
  return (
    <Empty title="Usage is of the whole tenant">
      <p>{reason}</p>
      <Button onClick={() => signOut()}>Sign in with another key</Button>
    </Empty>
  );
}

export default function Usage(): JSX.Element {
  const reason = lacks('read', 'tenant');
  return reason === null ? <Shown /> : <NotShown reason={reason} />;
}

function Shown(): JSX.Element {
  const day = dayParam();
  const loaded = useRequest((signal) => request('GET /usage', { query: day === '' ? {} : { day } }, signal), [day]);
  const { value, error, isBusy, at, again } = loaded;
  useCommands([{ keys: '', name: 'Look again', section: 'Usage', run: again }], []);
  return (
    <>
      <Busy of={loaded} />
      <div class="page-pad usage">
        {error === null ? null : <ErrorNote error={error} onAgain={again} />}
        {value === null ? (
          isBusy ? (
            <div class="skeleton usage-skeleton" />
          ) : null
        ) : (
          <>
            <Figures answer={value} />
            <Days answer={value} />
            <Limits limits={value.limits} />
            <DayHead answer={value} at={at} />
            <Refusals refused={value.refused} />
            <div class="panels">
              <Signals days={value.days} day={value.day} />
              <Services services={value.services} hints={value.hints ?? []} />
            </div>
            <Keys keys={value.keys} />
            <p class="cap">
              {count(value.keys.reduce((sum, { requests }) => sum + requests, 0))} requests of the day were taken. Keys and refusals are
              some seconds behind.
            </p>
          </>
        )}
      </div>
    </>
  );
}
