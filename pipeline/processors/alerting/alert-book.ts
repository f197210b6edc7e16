import { idOf, type Alert } from '../../alerts/alert.ts';
import type { Finding } from '../../detectors/detector.ts';
import { evidenceOf, textOf } from './alert-text.ts';

/** An alert that was resolved is remembered for so long: it may fire again as the same one. Seconds. */
const REMEMBERED = 3600;
/** Alerts of a service that fire within so long of each other are of one incident. Seconds. */
const TOGETHER = 300;
const ITSELF = 'auto: back within baseline';
const OFF = 'auto: the detector is off';
/** What a detector of one's own says of minutes of so long ago is no alert any more. Minutes. */
const MOST_OLD = 24 * 60;
const GONE = 'auto: no entries for a day';

/** What a finding is about. */
export type Subject = {
  readonly tenantId: number;
  readonly retentionDays: number;
  readonly stream: string;
  readonly service: string;
  /** Its counts of the last minutes, the newest last. */
  readonly recent: readonly number[];
  /** Of a detector of one's own: when it fires, a sentence. */
  readonly about?: string;
};

/** An alert as it was told last, whether somebody has resolved it, and since when it fires this time (seconds; 0 where that was not kept). */
type Told = { readonly alert: Alert; readonly isByHand: boolean; readonly openedAt: number };

type Written = {
  readonly told: Told[];
  readonly incidents: [string, { id: number; at: number }][];
  /** Not in books of before there were detectors of others. */
  readonly heard?: [string, number][];
};

/** The alerts of a tenant that fire, or have lately: which finding is which alert, and of which incident. */
export class AlertBook {
  readonly #told = new Map<number, Told>();
  /** The incident of each service, and when its last alert fired, seconds. */
  readonly #incidents = new Map<string, { readonly id: number; readonly at: number }>();
  /** The last minute of a finding that was heard, by stream and detector of one's own. */
  readonly #heard = new Map<string, number>();

  /** Takes what a detector of one's own has said: each finding once, however often it is said. */
  hear(finding: Finding, subject: Subject, now: number): Alert | null {
    const key = `${finding.detector} ${subject.stream}`;
    const { updatedAt: minute } = finding;
    if (minute <= (this.#heard.get(key) ?? 0) || minute < now / 60 - MOST_OLD) return null;
    this.#heard.set(key, minute);
    return this.take(finding, subject, now);
  }

  /** What a finding tells of its alert; null where it tells nothing new. `now`: append time, seconds. */
  take(finding: Finding, subject: Subject, now: number): Alert | null {
    this.#forget(now);
    const { tenantId, retentionDays, stream, service, recent, about } = subject;
    const id = idOf(tenantId, finding.detector, finding.side, stream, finding.firedAt);
    const told = this.#told.get(id);
    if (told?.isByHand === true) return null;
    const isOver = finding.state === 'resolved';
    // one that was never told is none
    if (told === undefined && isOver) return null;
    const before = told?.alert;
    // it fires again
    const openedAt = before === undefined || (before.state === 'resolved' && !isOver) ? now : (told?.openedAt ?? 0);
    const { title, description, severity } = isOver && before !== undefined ? before : textOf(finding, stream, service, about);
    const alert: Alert = {
      ...{ tenantId, retentionDays, id, detector: finding.detector, stream, service, title, description, severity },
      evidence: isOver && before !== undefined ? before.evidence : evidenceOf(finding, stream, { recent, openedAt }),
      ...{ state: finding.state, fireCount: finding.fireCount, updatedAt: now },
      firedAt: before?.firedAt ?? now,
      resolvedAt: isOver ? now : null,
      note: !isOver ? '' : finding.quiet === true ? ITSELF : OFF,
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

  /** The alerts that fire of a stream that is forgotten, as they are told at their end. */
  end(stream: string, now: number): Alert[] {
    const ended = [...this.#told.values()]
      .filter(({ alert }) => alert.stream === stream && alert.state === 'firing')
      .map(({ alert }): Alert => ({ ...alert, state: 'resolved', resolvedAt: now, updatedAt: now, note: GONE }));
    for (const alert of ended) this.#told.set(alert.id, { alert, isByHand: false, openedAt: 0 });
    return ended;
  }

  /** As JSON says it. */
  toJSON(): unknown {
    return { told: [...this.#told.values()], incidents: [...this.#incidents], heard: [...this.#heard] };
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): AlertBook {
    const { told, incidents, heard = [] } = json as Written;
    const book = new AlertBook();
    for (const one of told) book.#told.set(one.alert.id, one);
    for (const [service, incident] of incidents) book.#incidents.set(service, incident);
    for (const [key, minute] of heard) book.#heard.set(key, minute);
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
    for (const [key, minute] of this.#heard) if (minute < now / 60 - MOST_OLD) this.#heard.delete(key);
  }
}
