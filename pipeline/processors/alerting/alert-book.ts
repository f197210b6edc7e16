import { idOf, type Alert } from '../../alerts/alert.ts';
import type { Finding } from '../../detectors/detector.ts';
import { evidenceOf, textOf, type AlertText } from './alert-text.ts';

/** An alert that was resolved is remembered for so long: it may fire again as the same one. Seconds. */
const REMEMBERED = 3600;
/** Alerts of a service that fire within so long of each other are of one incident. Seconds. */
const TOGETHER = 300;
const ITSELF = 'auto: back within baseline';
const GONE = 'auto: no entries for a day';

/** What a finding is about. */
export type Subject = {
  readonly tenantId: number;
  readonly retentionDays: number;
  readonly stream: string;
  readonly service: string;
  /** Its counts of the last minutes, the newest last. */
  readonly recent: readonly number[];
};

/** What the alerts of a book say, and by what two of them are told apart. */
export type AlertWords<About extends Subject> = {
  /** With the tenant, what names an alert: the same for each finding about it. */
  key(finding: Finding, subject: About): readonly (string | number)[];
  text(finding: Finding, subject: About): AlertText;
  /** A JSON object as text. `openedAt`: since when it fires this time, seconds since 1970, 0 where that is not known. */
  evidence(finding: Finding, subject: About, openedAt: number): string;
};

/** Those of findings about the counts of a stream. */
const countWords: AlertWords<Subject> = {
  key: ({ detector, side, firedAt }, { stream }) => [detector, side, stream, firedAt],
  text: (finding, { stream, service }) => textOf(finding, stream, service),
  evidence: (finding, { stream, recent }, openedAt) => evidenceOf(finding, stream, { recent, openedAt }),
};

/** An alert as it was told last, whether somebody has resolved it, and since when it fires this time (seconds; 0 where that was not kept). */
type Told = { readonly alert: Alert; readonly isByHand: boolean; readonly openedAt: number };

/** The alerts of a tenant that fire, or have lately: which finding is which alert, and of which incident. */
export class AlertBook<About extends Subject = Subject> {
  readonly #words: AlertWords<About>;
  readonly #told = new Map<number, Told>();
  /** The incident of each service, and when its last alert fired, seconds. */
  readonly #incidents = new Map<string, { readonly id: number; readonly at: number }>();

  constructor(words: AlertWords<About> = countWords) {
    this.#words = words;
  }

  /** What a finding tells of its alert; null where it tells nothing new. `now`: append time, seconds. */
  take(finding: Finding, subject: About, now: number): Alert | null {
    this.#forget(now);
    const { tenantId, retentionDays, stream, service } = subject;
    const id = idOf(tenantId, ...this.#words.key(finding, subject));
    const told = this.#told.get(id);
    if (told?.isByHand === true) return null;
    const isOver = finding.state === 'resolved';
    // one that was never told is none
    if (told === undefined && isOver) return null;
    const before = told?.alert;
    // it fires again
    const openedAt = before === undefined || (before.state === 'resolved' && !isOver) ? now : (told?.openedAt ?? 0);
    const { title, description, severity } = isOver && before !== undefined ? before : this.#words.text(finding, subject);
    const alert: Alert = {
      ...{ tenantId, retentionDays, id, detector: finding.detector, stream, service, title, description, severity },
      evidence: isOver && before !== undefined ? before.evidence : this.#words.evidence(finding, subject, openedAt),
      ...{ state: finding.state, fireCount: finding.fireCount, updatedAt: now },
      firedAt: before?.firedAt ?? now,
      resolvedAt: isOver ? now : null,
      note: isOver ? ITSELF : '',
      incidentId: before === undefined ? this.#incidentOf(service, id, now) : before.incidentId,
    };
    this.#told.set(id, { alert, isByHand: false, openedAt });
    return alert;
  }

  /** An alert that somebody has resolved, as it is told then; null where that changes nothing. One that is not remembered is as it was shown. */
  resolve(shown: Alert, note: string, now: number): { readonly alert: Alert; readonly wasFiring: boolean } | null {
    this.#forget(now);
    const before = this.#told.get(shown.id)?.alert ?? shown;
    const wasFiring = before.state === 'firing';
    if (!wasFiring && (note === '' || before.note !== '')) return null;
    const alert: Alert = { ...before, state: 'resolved', resolvedAt: wasFiring ? now : before.resolvedAt, updatedAt: now, note };
    this.#told.set(shown.id, { alert, isByHand: true, openedAt: 0 });
    return { alert, wasFiring };
  }

  /** The alerts that fire of what is forgotten, a stream unless said, as they are told at their end. */
  end(of: string | ((alert: Alert) => boolean), now: number, note = GONE): Alert[] {
    const isOver = typeof of === 'string' ? ({ stream }: Alert): boolean => stream === of : of;
    const ended = [...this.#told.values()]
      .filter(({ alert }) => alert.state === 'firing' && isOver(alert))
      .map(({ alert }): Alert => ({ ...alert, state: 'resolved', resolvedAt: now, updatedAt: now, note }));
    for (const alert of ended) this.#told.set(alert.id, { alert, isByHand: false, openedAt: 0 });
    return ended;
  }

  /** As JSON says it. */
  toJSON(): unknown {
    return { told: [...this.#told.values()], incidents: [...this.#incidents] };
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from<About extends Subject = Subject>(json: unknown, words?: AlertWords<About>): AlertBook<About> {
    const { told, incidents } = json as { told: Told[]; incidents: [string, { id: number; at: number }][] };
    const book = new AlertBook(words);
    for (const one of told) book.#told.set(one.alert.id, one);
    for (const [service, incident] of incidents) book.#incidents.set(service, incident);
    return book;
  }

  #incidentOf(service: string, id: number, now: number): number | null {
    if (service === '') return null;
    const open = this.#incidents.get(service);
    const incident = { id: open === undefined ? idOf('incident', id) : open.id, at: now };
    this.#incidents.set(service, incident);
    return incident.id;
  }

  #forget(now: number): void {
    for (const [id, { alert }] of this.#told) if (alert.state === 'resolved' && alert.updatedAt < now - REMEMBERED) this.#told.delete(id);
    for (const [service, { at }] of this.#incidents) if (at < now - TOGETHER) this.#incidents.delete(service);
  }
}
