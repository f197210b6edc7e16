/** The course of an alert as a chart and as a table: counted anew where it counts entries, else as its evidence has it. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { request, useRequest, type Loaded } from '../base/api.ts';
import { theme, zone } from '../base/settings.ts';
import { shortMoment } from '../base/time.ts';
import { Button } from '../components/controls.tsx';
import { Busy, ErrorNote } from '../components/states.tsx';
import { courseSpan, perMinute, type Counted } from './course.ts';
import { figureText, type Alert, type Evidence } from './evidence.ts';

const DAY_MS = 864e5;
/** Detectors whose series are entries a minute, which `/hits` has too. */
const COUNTED = ['log_rate', 'error_rate', 'silence', 'pattern_rate'];

/** Entries a minute about the alert, and at the same time of yesterday and a week ago. */
function useCounted(alert: Alert, evidence: Evidence): Loaded<Counted> {
  const { link } = evidence;
  const span = courseSpan(alert, evidence);
  const isOn = COUNTED.includes(alert.detector_type) && link !== null && span !== null;
  const load = async (signal: AbortSignal): Promise<Counted> => {
    if (link === null || span === null) throw new Error('BUG: a course without its window.');
    const of = async (days: number): Promise<readonly number[]> => {
      const iso = (ms: number): string => new Date(ms - days * DAY_MS).toISOString();
      const { hits } = await request('GET /hits', { query: { query: link.query, start: iso(span.start), end: iso(span.end - 1), step: span.step } }, signal); // prettier-ignore
      return perMinute(hits, span, days * DAY_MS);
    };
    const [now, yesterday, lastWeek] = await Promise.all([of(0), of(1), of(7)]);
    return { times: span.times, values: now, earlier: [yesterday, lastWeek] };
  };
  return useRequest(isOn ? load : null, [alert.id, alert.last_updated_at, isOn]);
}

function CourseTable({ times, values, earlier }: Shown): JSX.Element {
  const shown = (value: number | null | undefined): string => (value === null || value === undefined ? '–' : figureText(value));
  return (
    <div class="course-table" tabIndex={0} role="region" aria-label="The course as a table">
      <table class="data">
        <thead>
          <tr>
            <th>Time</th>
            <th class="num">Value</th>
            {earlier.length === 0 ? null : <th class="num">Yesterday</th>}
            {earlier.length === 0 ? null : <th class="num">A week ago</th>}
          </tr>
        </thead>
        <tbody>
          {times.map((at, index) => (
            <tr key={at}>
              <td>{shortMoment(at * 1000, zone.value, (times.at(-1) ?? at) * 1000)}</td>
              <td class="num mono">{shown(values[index])}</td>
              {earlier.map((one, day) => (
                <td key={day} class="num mono">
                  {shown(one[index])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Shown = {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  readonly earlier: readonly (readonly (number | null)[])[];
};

/** The evidence's own series, until, or where not, entries are counted. */
function shownOf(counted: Counted | null, { series }: Evidence): Shown {
  if (counted !== null) return counted;
  const times = series === null ? [] : series.values.map((_none, index) => (series.start + index * series.stepMs) / 1000);
  return { times, values: series?.values ?? [], earlier: [] };
}

function Chart({ alert, evidence, shown }: { readonly alert: Alert; readonly evidence: Evidence; readonly shown: Shown }): JSX.Element {
  const at = useRef<HTMLDivElement>(null);
  const { expected, window, openedAt } = evidence;
  const { times, values, earlier } = shown;
  useEffect(() => {
    let end: () => void = () => undefined;
    let isLeft = false;
    void import('./chart.ts').then(({ drawCourse }) => {
      if (isLeft || at.current === null) return;
      const ends = window === null ? null : ([Date.parse(window.start) / 1000, Date.parse(window.end) / 1000] as const);
      const firedAt = Date.parse(openedAt ?? alert.fired_at) / 1000;
      const endedAt = alert.resolved_at === null ? null : Date.parse(alert.resolved_at) / 1000;
      end = drawCourse(at.current, { times, values, earlier, expected, window: ends, firedAt, endedAt, isUtc: zone.value === 'utc' });
    });
    return () => {
      isLeft = true;
      end();
    };
  }, [shown, alert.id, zone.value, theme.value]);
  const usual = expected === null ? '' : `, usual ${figureText(expected.low)} to ${figureText(expected.high)}`;
  const words = `Now ${figureText(values.at(-1) ?? 0)} a minute${usual}; the table has the numbers`;
  return <div ref={at} class="course" role="img" aria-label={words} />;
}

/** The chart, and the same as a table. */
export function Course({ alert, evidence }: { readonly alert: Alert; readonly evidence: Evidence }): JSX.Element | null {
  const [isTable, setTable] = useState(false);
  const counted = useCounted(alert, evidence);
  const shown = useMemo(() => shownOf(counted.value, evidence), [counted.value, alert.id, alert.last_updated_at]);
  if (evidence.series === null) return null;
  const isCounted = counted.value !== null;
  return (
    <section class="panel" aria-label="Course">
      <header class="panel-head">
        <h3 class="grow">{isCounted ? 'Entries a minute' : 'The last hour'}</h3>
        <span class="cap legend">
          {evidence.expected === null ? null : <span class="key band">usual range</span>}
          <span class="key fired">fired</span>
          {isCounted ? <span class="key day">yesterday</span> : null}
          {isCounted ? <span class="key week">a week ago</span> : null}
        </span>
        <Button isSmall isPressed={isTable} onClick={() => setTable(!isTable)}>
          Table
        </Button>
      </header>
      <Busy of={counted} />
      {counted.error === null ? null : (
        <ErrorNote error={counted.error} onAgain={counted.again}>
          <p class="muted">Below is what the alert itself has of it.</p>
        </ErrorNote>
      )}
      {isTable ? <CourseTable {...shown} /> : <Chart alert={alert} evidence={evidence} shown={shown} />}
    </section>
  );
}
