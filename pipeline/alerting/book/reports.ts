import type { Finding } from '../../detectors/detector.ts';
import { boundedEvidence, idOf, type Alert, type AlertSeverity } from './alert.ts';
import type { AlertCommand, Back, Carried, Fires } from './command.ts';
import { alertBytes, SizedMap } from './sized-map.ts';

/** What was resolved is remembered for so long: it may fire again as the same alert. Seconds. */
const REMEMBERED = 3600;
const ITSELF = 'auto: back within baseline';
const OFF = 'auto: the detector is off';
const NO_ENTRIES = 'auto: no entries for a day';
/** A finding of a detector of one's own about minutes older than this is no longer an alert. Minutes. */
const MOST_OLD = 24 * 60;
/** The most bytes that are written of a finding that was taken, about. */
const RECEIVED_BYTES = 40;

/** What a finding is about. */
export type Subject = {
  readonly tenantId: number;
  readonly retentionDays: number;
  readonly stream: string;
  readonly service: string;
  /** Whether a finding that was never reported is to be reported. */
  readonly isNews?: () => boolean;
};

/** The words of an alert: one sentence as its title, more in its description. */
export type AlertText = { readonly title: string; readonly description: string; readonly severity: AlertSeverity };

/** What the alerts of a source state, and what distinguishes two of them. */
export type AlertWords<About extends Subject> = {
  /** With the tenant, what names an alert: the same for each finding about it. */
  key(finding: Finding, subject: About): readonly (string | number)[];
  text(finding: Finding, subject: About): AlertText;
  /** A JSON object as a string. */
  evidence(finding: Finding, subject: About): string;
  /** What it is about beside its stream: a service, or a rule. */
  about(subject: About): string;
  /** The same of an alert as a release before kept it. */
  aboutFormer(alert: Alert, isOfService: boolean): string;
};

/** An alert that was reported: when last, seconds, and what it takes in the book, about. */
type Reported = {
  readonly id: number;
  readonly stream: string;
  readonly about: string;
  readonly isFiring: boolean;
  readonly at: number;
  readonly bytes: number;
};

/** What releases before kept: whole alerts. */
type Former = { readonly alert: Alert; readonly isByHand: boolean; readonly openedAt?: number; readonly isOfService?: boolean };
type Written = { readonly reported?: readonly Reported[]; readonly told?: readonly Former[]; readonly heard?: [string, number][] };

/** What a source has reported of a tenant: commands for the book of alerts follow from its findings. */
export class Reports<About extends Subject> {
  readonly #words: AlertWords<About>;
  readonly #reported = new SizedMap<number, Reported>(({ bytes }) => bytes);
  /** The last minute of a finding that was taken, by stream and detector of one's own: by a number for both, as digits. */
  readonly #received = new Map<string, number>();
  /** When it was looked last for what is over: append time, seconds. */
  #forgotAt = -1;
  /** Alerts that a release before kept here. */
  #carried: Carried[] = [];

  constructor(words: AlertWords<About>) {
    this.#words = words;
  }

  /** What its alerts take in the book, and it has here, about. */
  get bytes(): number {
    return this.#reported.bytes + this.#received.size * RECEIVED_BYTES;
  }

  /** The command after a finding; null where it changes nothing. `now`: append time, seconds. */
  take(finding: Finding, subject: About, now: number): Fires | Back | null {
    this.#forget(now);
    const { tenantId, stream, service } = subject;
    const idAt = (firedAt: number): number => idOf(tenantId, ...this.#words.key({ ...finding, firedAt }, subject));
    const id = idAt(finding.firedAt);
    const known = this.#reported.get(id);
    if (finding.state === 'resolved') {
      // one that was never reported is not an alert
      if (known?.isFiring !== true) return null;
      this.#set({ ...known, isFiring: false, at: now });
      return { kind: 'back', id, at: now, note: finding.quiet === true ? ITSELF : OFF };
    }
    if (known === undefined && subject.isNews?.() === false) return null;
    const { title, description, severity } = this.#words.text(finding, subject);
    const evidence = boundedEvidence(this.#words.evidence(finding, subject));
    const isFired = known?.isFiring !== true;
    const command: Fires = {
      ...{ kind: isFired ? 'fired' : 'updated', id, at: now },
      ...(isFired && finding.updatedAt !== finding.firedAt ? { again: idAt(finding.updatedAt) } : {}),
      ...{ detector: finding.detector, stream, service, severity, title, description, evidence, fireCount: finding.fireCount },
    };
    const bytes = Math.max(known?.bytes ?? 0, alertBytes(command));
    this.#set({ id, stream, about: this.#words.about(subject), isFiring: true, at: now, bytes });
    return command;
  }

  /** Takes a finding of a detector of one's own: each once, however often it comes. */
  hear(finding: Finding, subject: About, now: number): Fires | Back | null {
    const key = String(idOf(finding.detector, subject.stream));
    const { updatedAt: minute } = finding;
    if (minute <= (this.#received.get(key) ?? 0) || minute < now / 60 - MOST_OLD) return null;
    this.#received.set(key, minute);
    return this.take(finding, subject, now);
  }

  /** Whether an alert was reported that these parts name. */
  has(tenantId: number, key: readonly (string | number)[]): boolean {
    return this.#reported.has(idOf(tenantId, ...key));
  }

  /** Ends what fires of what is forgotten. */
  end(isOver: (reported: Pick<Reported, 'id' | 'stream' | 'about'>) => boolean, now: number, note = NO_ENTRIES): AlertCommand[] {
    const ended = [...this.#reported.values()].filter((one) => one.isFiring && isOver(one));
    for (const one of ended) this.#set({ ...one, isFiring: false, at: now });
    return ended.map(({ id }) => ({ kind: 'back', id, at: now, note }));
  }

  /** True where nothing is remembered any more. */
  isOver(now: number): boolean {
    this.#forget(now);
    return this.#reported.size === 0 && this.#received.size === 0;
  }

  /** What a release before kept here, for the book: once. */
  carried(): readonly AlertCommand[] {
    const carried = this.#carried;
    this.#carried = [];
    return carried;
  }

  toJSON(): unknown {
    return { reported: [...this.#reported.values()], heard: [...this.#received] };
  }

  /** What `toJSON` gave, or a release before, which kept alerts; throws where it is anything else. */
  static from<About extends Subject>(json: unknown, words: AlertWords<About>): Reports<About> {
    const { reported, told, heard = [] } = json as Written;
    const read = new Reports(words);
    for (const one of reported ?? []) read.#set(one);
    if (reported === undefined && told === undefined) throw new TypeError('This is not a state of reports.');
    for (const { alert, isByHand, openedAt = 0, isOfService = false } of told ?? []) {
      const { id, stream, state, updatedAt: at } = alert;
      read.#set({ id, stream, about: words.aboutFormer(alert, isOfService), isFiring: state === 'firing', at, bytes: alertBytes(alert) });
      read.#carried.push({ kind: 'carried', alert: { ...alert, evidence: boundedEvidence(alert.evidence) }, isByHand, openedAt });
    }
    for (const [key, minute] of heard) read.#received.set(key, minute);
    return read;
  }

  #set(one: Reported): void {
    this.#reported.set(one.id, one);
  }

  /** At one time once: what comes later in the same second is not over in it, and thousands may be reported at a time. */
  #forget(now: number): void {
    if (now === this.#forgotAt) return;
    this.#forgotAt = now;
    for (const { id, isFiring, at } of this.#reported.values()) if (!isFiring && at < now - REMEMBERED) this.#reported.delete(id);
    for (const [key, minute] of this.#received) if (minute < now / 60 - MOST_OLD) this.#received.delete(key);
  }
}
