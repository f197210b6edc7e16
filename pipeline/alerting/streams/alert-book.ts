import { idOf, type Alert } from '../book/alert.ts';
import type { Finding, Firing } from '../../detectors/detector.ts';
import { Incidents, type Joined, type WrittenIncidents } from '../book/incidents.ts';
import { alertBytes, SizedMap } from '../book/sized-map.ts';
import { customText, evidenceOf, textOf, type AlertText } from '../evidence/alert-text.ts';
import { patternEvidence, patternText, type PatternSubject } from '../evidence/pattern-text.ts';
import type { Part } from '../evidence/alert-text.ts';
import type { WatchedSeries } from './watched-series.ts';

/** An alert that was resolved is remembered for so long: it may fire again as the same one. Seconds. */
const REMEMBERED = 3600;
const ITSELF = 'auto: back within baseline';
const OFF = 'auto: the detector is off';
/** A finding of a detector of one's own about minutes older than this is no longer an alert. Minutes. */
const MOST_OLD = 24 * 60;
const NO_ENTRIES = 'auto: no entries for a day';

/** What a finding is about. */
export type Subject = {
  readonly tenantId: number;
  readonly retentionDays: number;
  readonly stream: string;
  readonly service: string;
  /** Its counts of the last minutes, the newest last. */
  readonly recent: readonly number[];
  /** Whether a finding that was never published is to be published. */
  readonly isNews?: () => boolean;
  /** Of a service: how many streams it has, and what the largest parts of it are. */
  readonly together?: { readonly count: number; readonly parts: readonly Part[] };
  /** Of a detector of one's own: when it fires, a sentence. */
  readonly about?: string;
  /** Of an error pattern. */
  readonly pattern?: PatternSubject;
};

/** What the alerts of a book state, and what distinguishes two of them. */
export type AlertWords<About extends Subject> = {
  /** With the tenant, what names an alert: the same for each finding about it. */
  key(finding: Finding, subject: About): readonly (string | number)[];
  text(finding: Finding, subject: About): AlertText;
  /** A JSON object as a string. `openedAt`: since when it fires this time, seconds since 1970, 0 where that is not known. */
  evidence(finding: Finding, subject: About, openedAt: number): string;
};

/** A service's alert is another one than that of a stream with the same labels. */
const keyOf = ({ detector, side, firedAt }: Firing, stream: string, isOfService: boolean): readonly (string | number)[] => [
  ...(isOfService ? ['service'] : []),
  ...[detector, side, stream, firedAt],
];

/** Those of findings about the counts of a stream, of a service's streams together, or of a pattern. */
const countWords: AlertWords<Subject> = {
  key: (finding, { stream, together, pattern }) =>
    pattern === undefined
      ? keyOf(finding, stream, together !== undefined)
      : ['pattern', finding.detector, finding.side, pattern.fingerprint, finding.firedAt],
  text(finding, { stream, service, together, about, pattern }) {
    if (pattern !== undefined) return patternText(finding, stream, service, pattern);
    return about === undefined ? textOf(finding, stream, service, together?.count ?? 1) : customText(finding, stream, service, about);
  },
  evidence: (finding, { stream, recent, together, pattern }, openedAt) =>
    pattern === undefined
      ? evidenceOf(finding, stream, { recent, openedAt, parts: together?.parts ?? [] })
      : patternEvidence(finding, stream, { recent, openedAt, pattern }),
};

/** An alert as published last, whether a user has resolved it, and since when it fires this time (seconds; 0 where that was not kept). */
type Published = { readonly alert: Alert; readonly isByHand: boolean; readonly openedAt: number; readonly isOfService?: boolean };

type Written = {
  readonly told: Published[];
  readonly incidents: WrittenIncidents;
  /** Not in books of before there were detectors of others. */
  readonly heard?: [string, number][];
};

/** The most bytes that are written of a finding that was taken, and of an incident, about. */
const RECEIVED_BYTES = 40;
const INCIDENT_BYTES = 100;

/** The alerts of a tenant that fire, or have lately: which finding is which alert, and of which incident. */
export class AlertBook<About extends Subject = Subject> {
  readonly #words: AlertWords<About>;
  readonly #published = new SizedMap<number, Published>(({ alert }) => alertBytes(alert));
  #incidents = new Incidents();
  /** The last minute of a finding that was taken, by stream and detector of one's own: by a number for both, as digits. */
  readonly #received = new Map<string, number>();
  /** When it was looked last for what is over: append time, seconds. */
  #forgotAt = -1;

  constructor(words: AlertWords<About> = countWords) {
    this.#words = words;
  }

  /** What it takes where it is written down, about. */
  get bytes(): number {
    return this.#published.bytes + this.#received.size * RECEIVED_BYTES + this.#incidents.size * INCIDENT_BYTES;
  }

  /** Takes the findings of a detector of one's own: each once, however often it comes. */
  hear(finding: Finding, subject: About, now: number): Alert | null {
    const key = String(idOf(finding.detector, subject.stream));
    const { updatedAt: minute } = finding;
    if (minute <= (this.#received.get(key) ?? 0) || minute < now / 60 - MOST_OLD) return null;
    this.#received.set(key, minute);
    return this.take(finding, subject, now);
  }

  /** The alert after a finding; null where it changes nothing. `now`: append time, seconds. */
  take(finding: Finding, subject: About, now: number): Alert | null {
    this.#forget(now);
    const { tenantId, retentionDays, stream, service, together } = subject;
    const isOfService = together !== undefined;
    const id = idOf(tenantId, ...this.#words.key(finding, subject));
    const known = this.#published.get(id);
    if (known?.isByHand === true) return null;
    const isOver = finding.state === 'resolved';
    // one that was never published is not an alert
    if (known === undefined && (isOver || subject.isNews?.() === false)) return null;
    const before = known?.alert;
    // it fires again
    const openedAt = before === undefined || (before.state === 'resolved' && !isOver) ? now : (known?.openedAt ?? 0);
    const { title, description, severity } = isOver && before !== undefined ? before : this.#words.text(finding, subject);
    const alert: Alert = {
      ...{ tenantId, retentionDays, id, detector: finding.detector, stream, service, title, description, severity },
      evidence: isOver && before !== undefined ? before.evidence : this.#words.evidence(finding, subject, openedAt),
      ...{ state: finding.state, fireCount: finding.fireCount, updatedAt: now },
      firedAt: before?.firedAt ?? now,
      resolvedAt: isOver ? now : null,
      note: !isOver ? '' : finding.quiet === true ? ITSELF : OFF,
      incidentId: before === undefined ? this.#incidents.join(tenantId, service, now) : before.incidentId,
    };
    this.#set({ alert, isByHand: false, openedAt, ...(isOfService ? { isOfService } : {}) });
    return alert;
  }

  /** Takes which incident an alert of another merger has joined. */
  join(joined: Joined, now: number): void {
    this.#incidents.hear(joined, now);
  }

  /** What is to be announced to other mergers of alerts that are published. */
  announcements(alerts: readonly Alert[]): Joined[] {
    return this.#incidents.announcements(alerts);
  }

  /** True where nothing is remembered any more. */
  isOver(now: number): boolean {
    this.#forget(now);
    return this.#published.size === 0 && this.#incidents.size === 0 && this.#received.size === 0;
  }

  /** Whether a stream, or a service, has published an alert of what fires there and this finding is about. */
  isPublished(tenantId: number, { stream, series }: WatchedSeries, { detector }: Finding, isOfService: boolean): boolean {
    const firing = series.firing(detector);
    return firing !== null && this.#published.has(idOf(tenantId, ...keyOf(firing, stream, isOfService)));
  }

  /** The alert after a user has resolved it; null where that changes nothing. One that is not remembered is as it was shown. */
  resolve(shown: Alert, note: string, now: number): { readonly alert: Alert; readonly wasFiring: boolean } | null {
    this.#forget(now);
    const before = this.#published.get(shown.id)?.alert ?? shown;
    const wasFiring = before.state === 'firing';
    if (!wasFiring && (note === '' || before.note !== '')) return null;
    const alert: Alert = { ...before, state: 'resolved', resolvedAt: wasFiring ? now : before.resolvedAt, updatedAt: now, note };
    this.#set({ alert, isByHand: true, openedAt: 0 });
    return { alert, wasFiring };
  }

  /** Resolves and returns the firing alerts of what is forgotten. */
  end(isOver: (alert: Alert, isOfService: boolean) => boolean, now: number, note = NO_ENTRIES): Alert[] {
    const ended = [...this.#published.values()]
      .filter(({ alert, isOfService = false }) => alert.state === 'firing' && isOver(alert, isOfService))
      .map(({ alert }): Alert => ({ ...alert, state: 'resolved', resolvedAt: now, updatedAt: now, note }));
    for (const alert of ended) this.#set({ alert, isByHand: false, openedAt: 0 });
    return ended;
  }

  /** The form that JSON has. */
  toJSON(): unknown {
    return { told: [...this.#published.values()], incidents: this.#incidents, heard: [...this.#received] };
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from<About extends Subject = Subject>(json: unknown, words?: AlertWords<About>): AlertBook<About> {
    const { told: published, incidents, heard: received = [] } = json as Written;
    const book = new AlertBook(words);
    for (const one of published) book.#set(one);
    book.#incidents = Incidents.from(incidents);
    for (const [key, minute] of received) book.#received.set(key, minute);
    return book;
  }

  #set(published: Published): void {
    this.#published.set(published.alert.id, published);
  }

  /** At one time once: what comes later in the same second is not over in it, and thousands may be published at a time. */
  #forget(now: number): void {
    if (now === this.#forgotAt) return;
    this.#forgotAt = now;
    for (const { alert } of this.#published.values())
      if (alert.state === 'resolved' && alert.updatedAt < now - REMEMBERED) this.#published.delete(alert.id);
    this.#incidents.forget(now);
    for (const [key, minute] of this.#received) if (minute < now / 60 - MOST_OLD) this.#received.delete(key);
  }
}
