import type { AlertText } from '../book/reports.ts';
import type { Finding } from '../../detectors/detector.ts';
import { ERRORS, evidenceOf, minutes, plain, type EvidenceMore } from './alert-text.ts';
import type { Part } from './alert-text.ts';

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
export function patternText(
  { value, expected, scale, mean }: Finding,
  stream: string,
  service: string,
  pattern: PatternSubject,
): AlertText {
  const who = service !== '' ? service : stream === '{}' ? 'several services' : stream;
  const band = `${plain(expected.low)} to ${plain(expected.high)}`;
  return {
    title: `Errors "${short(pattern.template, MOST_TITLE)}" of ${who} rose to ${plain(value)} a minute, expected ${band}`,
    description: `Errors with the template "${short(pattern.template, MOST_TEXT)}" came at ${plain(value)} a minute in the last ${minutes(scale)}. Its baseline is ${plain(mean)} a minute, and ${band} is usual. The errors of ${who} as a whole did not leave what is usual.`,
    severity: 'warning',
  };
}

/** What draws such a finding, and where its entries are: a JSON object as a string. */
export function patternEvidence(
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
