import { readJson } from '../../core/read-json.ts';
import type { Finding } from '../../detectors/detector.ts';
import type { AlertText, AlertWords, Subject } from '../book/reports.ts';
import { evidenceOf, minutes, plain } from '../streams/alert-words.ts';
import { DURATION, type Shown } from './watched-operation.ts';

/** Around a finding, before and behind it, traces are looked for. Minutes. */
const AROUND = 15;

/** What a finding is about: an operation, or all of a service where that is empty. */
export type SpanSubject = Subject & {
  readonly operation: string;
  readonly recent: readonly number[];
  readonly shown: { readonly slow: readonly Shown[]; readonly failed: readonly Shown[] };
};

const iso = (minute: number): string => new Date(minute * 60_000).toISOString().replace('.000Z', 'Z');

/** The words of findings about requests. */
export const spanWords: AlertWords<SpanSubject> = {
  key: ({ detector, side, firedAt }, { stream }) => ['spans', detector, side, stream, firedAt],
  text: (finding, { service, operation }) => textOf(finding, operation === '' ? service : `${operation} of ${service}`),
  evidence(finding, { stream, service, operation, recent, shown }) {
    const { links: _logs, ...common } = readJson(evidenceOf(finding, stream, { recent, parts: [] })) as Record<string, unknown>;
    const { window } = finding;
    const around = { start: iso(window.start - AROUND), end: iso(window.end + 1 + AROUND) };
    const query = new URLSearchParams({
      ...{ service, ...(operation === '' ? {} : { operation }), ...around },
      ...(finding.detector === 'error_rate' ? { status: 'error' } : {}),
    });
    return JSON.stringify({
      ...common,
      service,
      ...(operation === '' ? {} : { operation }),
      slow_traces: shown.slow.map(([, trace, ms]) => ({ trace_id: trace, duration_ms: Number(ms.toPrecision(6)) })),
      failing_traces: shown.failed.map(([, trace]) => ({ trace_id: trace })),
      links: { traces: `/traces?${query.toString()}`, ...around },
    });
  },
  about: ({ stream }) => stream,
  aboutFormer: () => '',
};

function textOf({ detector, side, value, expected, scale, mean }: Finding, who: string): AlertText {
  const isDuration = detector === DURATION;
  const unit = isDuration ? ' ms' : ' a minute';
  const [now, usual] = [`${plain(value)}${unit}`, `${plain(mean)}${unit}`];
  const band = `${plain(expected.low)} to ${plain(expected.high)}`;
  if (detector === 'silence')
    return {
      title: `${who} has no requests`,
      description: `No request of ${who} came for ${minutes(scale)}, where ${usual} are usual.`,
      severity: 'critical',
    };
  const what = isDuration ? '95 % of durations' : detector === 'error_rate' ? 'Errors' : 'Requests';
  return {
    title: `${what} of ${who} ${side === 'up' ? 'rose' : 'fell'} to ${now}, expected ${band}`,
    description: `${what} of ${who} ${isDuration ? 'were within' : 'came at'} ${now} in the last ${minutes(scale)}. The baseline is ${usual}, and ${band} is usual.`,
    severity: detector === 'error_rate' ? 'critical' : 'warning',
  };
}
