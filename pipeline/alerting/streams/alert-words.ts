import type { AlertText, AlertWords, Subject } from '../book/reports.ts';
import { wordsFrom } from '../../core/severity.ts';
import type { Finding, Firing } from '../../detectors/detector.ts';
import { detectors } from '../../detectors/index.ts';

/** What a stream of a service has of what the service has too much, or too little of. */
export type Part = { readonly stream: string; readonly share: number };

/** The window of entries that a link shows around a finding, before and behind it. Minutes. */
const AROUND = 15;

/** A number for people: two digits below ten, and no fractions above. */
export const plain = (value: number): string =>
  Math.abs(value) < 10 ? String(Number(value.toPrecision(2))) : Math.round(value).toLocaleString('en-US');

export const minutes = (count: number): string => (count === 1 ? 'minute' : `${String(count)} minutes`);

/** What a detector of one's own has found of a stream; `about` is when it fires. */
function customText({ detector, value, expected, scale, mean }: Finding, stream: string, service: string, about: string): AlertText {
  const band = `${plain(expected.low)} to ${plain(expected.high)}`;
  return {
    title: `${detector}: ${service === '' ? stream : service} is at ${plain(value)}, expected ${band}`,
    description: `${about} It saw ${plain(value)} in the last ${minutes(scale)} of ${stream}; ${plain(mean)} is expected, and ${band} is usual.`,
    severity: 'warning',
  };
}

/** The sentences of a finding about a stream, or about a service of `streams` streams together. */
function textOf({ detector, side, value, expected, scale, mean }: Finding, stream: string, service: string, streams = 1): AlertText {
  const { counts = 'entries', severity = 'warning', text } = detectors.find(detector) ?? {};
  const who = service === '' ? stream : service;
  const whose = streams === 1 ? stream : `the ${String(streams)} streams of ${stream} together`;
  const spread = streams === 1 ? '' : ' No single stream has most of it.';
  const own = text?.({ who, whose, minutes: minutes(scale), usual: plain(mean) });
  if (own !== undefined) return { title: own.title, description: `${own.description}${spread}`, severity };
  const what = counts === 'errors' ? 'Errors' : 'Entries';
  const verb = side === 'up' ? 'rose' : 'fell';
  const band = `${plain(expected.low)} to ${plain(expected.high)}`;
  return {
    title: `${what} of ${who} ${verb} to ${plain(value)} a minute, expected ${band}`,
    description: `${what} of ${whose} came at ${plain(value)} a minute in the last ${minutes(scale)}. Its baseline is ${plain(mean)} a minute, and ${band} is usual.${spread}`,
    severity,
  };
}

/** The LogsQL query of the entries that a detector counts. */
const queryOf = (detector: string, stream: string): string => {
  const all = stream === '{}' ? '*' : stream;
  return detectors.find(detector)?.counts === 'errors' ? `${all} ${ERRORS}` : all;
};

/** Levels are stored as producers send them; this is case-insensitive. */
const ERRORS = `level:~"(?i)^(${wordsFrom(5).join('|')})$"`;

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

/** Characters of a template in a title. */
const MOST_TITLE = 120;
const MOST_TEXT = 500;

/** The error pattern that an alert is about, and which streams have most of it. */
export type PatternSubject = {
  readonly fingerprint: string;
  readonly template: string;
  readonly example: string;
  readonly parts: readonly Part[];
};

const short = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);

/** The sentences of a finding about an error pattern, of a stream, a service (empty for none) or of several. */
function patternText({ value, expected, scale, mean }: Finding, stream: string, service: string, pattern: PatternSubject): AlertText {
  const who = service !== '' ? service : stream === '{}' ? 'several services' : stream;
  const band = `${plain(expected.low)} to ${plain(expected.high)}`;
  return {
    title: `Errors "${short(pattern.template, MOST_TITLE)}" of ${who} rose to ${plain(value)} a minute, expected ${band}`,
    description: `Errors with the template "${short(pattern.template, MOST_TEXT)}" came at ${plain(value)} a minute in the last ${minutes(scale)}. Its baseline is ${plain(mean)} a minute, and ${band} is usual. The errors of ${who} as a whole did not leave what is usual.`,
    severity: 'warning',
  };
}

/** What draws such a finding, and where its entries are: a JSON object as a string. */
function patternEvidence(
  finding: Finding,
  stream: string,
  { recent, pattern }: Pick<EvidenceMore, 'recent'> & { readonly pattern: PatternSubject },
): string {
  const { fingerprint, template, example, parts } = pattern;
  const errors = stream === '{}' ? ERRORS : `${stream} ${ERRORS}`;
  return evidenceOf(finding, stream, {
    ...{ recent, parts, links: { query: `${errors} _fingerprint:${fingerprint}`, all: errors } },
    ...{ fingerprint, normalized_message: template, sample_messages: [example] },
  });
}

/** What a finding about counts is about: a stream, the streams of a service together, or an error pattern. */
export type CountSubject = Subject & {
  /** Its counts of the last minutes, the newest last. */
  readonly recent: readonly number[];
  /** Of a service: how many streams it has, and what the largest parts of it are. */
  readonly together?: { readonly count: number; readonly parts: readonly Part[] };
  /** Of a detector of one's own: when it fires, a sentence. */
  readonly about?: string;
  /** Of an error pattern. */
  readonly pattern?: PatternSubject;
};

/** What alerts of services are about beside their streams. */
export const OF_SERVICE = 'service';

/** What names the alert of a stream; a service's is another one than that of a stream with the same labels. */
export const countKey = ({ detector, side, firedAt }: Firing, stream: string, isOfService: boolean): readonly (string | number)[] => [
  ...(isOfService ? ['service'] : []),
  ...[detector, side, stream, firedAt],
];

/** The words of findings about counts. */
export const countWords: AlertWords<CountSubject> = {
  key: (finding, { stream, together, pattern }) =>
    pattern === undefined
      ? countKey(finding, stream, together !== undefined)
      : ['pattern', finding.detector, finding.side, pattern.fingerprint, finding.firedAt],
  text(finding, { stream, service, together, about, pattern }) {
    if (pattern !== undefined) return patternText(finding, stream, service, pattern);
    return about === undefined ? textOf(finding, stream, service, together?.count ?? 1) : customText(finding, stream, service, about);
  },
  evidence: (finding, { stream, recent, together, pattern }) =>
    pattern === undefined
      ? evidenceOf(finding, stream, { recent, parts: together?.parts ?? [] })
      : patternEvidence(finding, stream, { recent, pattern }),
  about: ({ together }) => (together === undefined ? '' : OF_SERVICE),
  aboutFormer: (_alert, isOfService) => (isOfService ? OF_SERVICE : ''),
};
