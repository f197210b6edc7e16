import type { AlertText } from '../book/reports.ts';
import { wordsFrom } from '../../core/severity.ts';
import type { Finding } from '../../detectors/detector.ts';

/** What a stream of a service has of what the service has too much, or too little of. */
export type Part = { readonly stream: string; readonly share: number };

/** The window of entries that a link shows around a finding, before and behind it. Minutes. */
const AROUND = 15;

/** A number for people: two digits below ten, and no fractions above. */
export const plain = (value: number): string =>
  Math.abs(value) < 10 ? String(Number(value.toPrecision(2))) : Math.round(value).toLocaleString('en-US');

export const minutes = (count: number): string => (count === 1 ? 'minute' : `${String(count)} minutes`);

/** What is counted: by the detector. */
const WHAT: Readonly<Record<string, string>> = { error_rate: 'Errors', log_rate: 'Entries', silence: 'Entries' };

/** What a detector of one's own has found of a stream; `about` is when it fires. */
export function customText({ detector, value, expected, scale, mean }: Finding, stream: string, service: string, about: string): AlertText {
  const band = `${plain(expected.low)} to ${plain(expected.high)}`;
  return {
    title: `${detector}: ${service === '' ? stream : service} is at ${plain(value)}, expected ${band}`,
    description: `${about} It saw ${plain(value)} in the last ${minutes(scale)} of ${stream}; ${plain(mean)} is expected, and ${band} is usual.`,
    severity: 'warning',
  };
}

/** The sentences of a finding about a stream, or about a service of `streams` streams together. */
export function textOf(finding: Finding, stream: string, service: string, streams = 1): AlertText {
  const { detector, side, value, expected, scale, mean } = finding;
  const who = service === '' ? stream : service;
  const whose = streams === 1 ? stream : `the ${String(streams)} streams of ${stream} together`;
  const spread = streams === 1 ? '' : ' No single stream has most of it.';
  const what = WHAT[detector] ?? detector;
  const band = `${plain(expected.low)} to ${plain(expected.high)}`;
  if (detector === 'silence')
    return {
      title: `${who} is silent`,
      description: `No entry of ${whose} came for ${minutes(scale)}, where ${plain(mean)} a minute are usual. It has stopped, or whatever ships its entries has.${spread}`,
      severity: 'critical',
    };
  const verb = side === 'up' ? 'rose' : 'fell';
  return {
    title: `${what} of ${who} ${verb} to ${plain(value)} a minute, expected ${band}`,
    description: `${what} of ${whose} came at ${plain(value)} a minute in the last ${minutes(scale)}. Its baseline is ${plain(mean)} a minute, and ${band} is usual.${spread}`,
    severity: detector === 'error_rate' ? 'critical' : 'warning',
  };
}

/** The LogsQL query of the entries that a detector counts. */
const queryOf = (detector: string, stream: string): string => {
  const all = stream === '{}' ? '*' : stream;
  return detector === 'error_rate' ? `${all} ${ERRORS}` : all;
};

/** Levels are stored as producers send them; this is case-insensitive. */
export const ERRORS = `level:~"(?i)^(${wordsFrom(5).join('|')})$"`;

const iso = (minute: number): string => new Date(minute * 60_000).toISOString().replace('.000Z', 'Z');

/** What evidence has in addition to the finding; members that are not named here are added unchanged. */
export type EvidenceMore = {
  /** The counts of the last minutes, the newest last. */
  readonly recent: readonly number[];
  /** Which streams have most of it, and which shares. */
  readonly parts: readonly Part[];
  /** LogsQL: the entries that it is about, and those that it is compared with; of what the detector counts without it. */
  readonly links?: { readonly query: string; readonly all: string };
} & Readonly<Record<string, unknown>>;

/** What draws a finding, and where its entries are: a JSON object as a string. */
export function evidenceOf(
  { detector, z, value, mean, expected, window, scale, side }: Finding,
  stream: string,
  { recent, parts, links, ...more }: EvidenceMore,
): string {
  const rounded = (number: number): number => Number(number.toPrecision(6));
  return JSON.stringify({
    z_score: rounded(z),
    current_value: rounded(value),
    baseline_mean: rounded(mean),
    expected: { low: rounded(expected.low), high: rounded(expected.high) },
    window: { start: iso(window.start), end: iso(window.end + 1) },
    scale_minutes: scale,
    direction: side,
    ...(parts.length === 0 ? {} : { streams: parts.map(({ stream: part, share }) => ({ stream: part, share: Number(share.toFixed(3)) })) }),
    series: { minute: iso(window.end - recent.length + 1), step: '1m', values: recent },
    ...more,
    links: { ...(links ?? { query: queryOf(detector, stream) }), start: iso(window.start - AROUND), end: iso(window.end + 1 + AROUND) },
  });
}
