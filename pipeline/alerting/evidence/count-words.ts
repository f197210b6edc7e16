import type { AlertWords, Subject } from '../book/reports.ts';
import type { Firing } from '../../detectors/detector.ts';
import { customText, evidenceOf, textOf, type Part } from './alert-text.ts';
import { patternEvidence, patternText, type PatternSubject } from './pattern-text.ts';

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
