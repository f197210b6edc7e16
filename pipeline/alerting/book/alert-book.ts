import { objectOf } from '../../core/read-json.ts';
import type { Alert } from './alert.ts';
import type { AlertCommand, Back, Carried, Fires, Resolved } from './command.ts';
import { Incidents, type WrittenIncidents } from './incidents.ts';
import { timeText } from './shown-alert.ts';
import { alertBytes, SizedMap } from './sized-map.ts';

/** An alert that was resolved is remembered for so long: it may fire again as the same one. Seconds. */
const REMEMBERED = 3600;
const DAY = 86_400;
/** One that a user has resolved is remembered until it was back, and for so long where nothing more is told of it. */
const BY_HAND_REMEMBERED = DAY + REMEMBERED;
/** What nobody has told anything of for so long is forgotten, by time on the commands' topic: resolved alerts, and those that fire. Seconds. */
const IDLE = 2 * DAY;
const IDLE_FIRING = 8 * DAY;
/** What is written of an incident, about. */
const INCIDENT_BYTES = 100;

/** An alert as published last, and what decides about the next command. Times: seconds since 1970. */
type Known = {
  /** What its source names it: another number than its id where one before was resolved by hand. */
  readonly key: number;
  readonly alert: Alert;
  /** Since when it fires this time; 0 where that was not kept. */
  readonly openedAt: number;
  /** A user has resolved it; and whether it was back since. */
  readonly isByHand: boolean;
  readonly isBack: boolean;
  /** Windows that its source counts, and that were of the alert before. */
  readonly uncounted: number;
  /** Who told of it, and when the last time. */
  readonly reporter: string;
  readonly reportedAt: number;
};

/** Who tells, of whose alerts, and whether another alert fits. */
export type Reporter = {
  readonly reporter: string;
  readonly tenantId: number;
  readonly retentionDays: number;
  readonly mayTake: () => boolean;
};

/** The alerts of a tenant that fire, or have lately: which command is about which of them, and of which incident they are. */
export class AlertBook {
  readonly #known = new SizedMap<number, Known>(({ alert }) => alertBytes(alert));
  #incidents = new Incidents();
  /** When it was looked last for what is over of each who tells: seconds. */
  readonly #forgotAt = new Map<string, number>();

  /** What it takes where it is written down, about. */
  get bytes(): number {
    return this.#known.bytes + this.#incidents.size * INCIDENT_BYTES;
  }

  get isEmpty(): boolean {
    return this.#known.size === 0 && this.#incidents.size === 0;
  }

  /** The alert after a command; null where that changes nothing. `now`: when it was appended, seconds. */
  take(command: AlertCommand, who: Reporter, now: number): Alert | null {
    if (command.kind === 'resolved') return this.#resolve(command, who, command.at ?? now);
    if (command.kind === 'carried') return this.#carry(command, who);
    this.#forget(who.reporter, command.at);
    return command.kind === 'back' ? this.#end(command) : this.#fire(command, who);
  }

  /** Forgets what nobody tells anything of any more. `now`: append time, seconds. */
  sweep(now: number): void {
    for (const { key, alert, reportedAt } of this.#known.values())
      if (Math.max(reportedAt, alert.updatedAt) < now - (alert.state === 'firing' ? IDLE_FIRING : IDLE)) this.#known.delete(key);
    this.#incidents.forget(now - IDLE);
    this.#forgotAt.clear();
  }

  toJSON(): unknown {
    return { known: [...this.#known.values()], incidents: this.#incidents };
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): AlertBook {
    const { known, incidents } = json as { readonly known: readonly Known[]; readonly incidents: WrittenIncidents };
    const read = new AlertBook();
    for (const one of known) read.#set(one);
    read.#incidents = Incidents.from(incidents);
    return read;
  }

  #fire(command: Fires, { reporter, tenantId, retentionDays, mayTake }: Reporter): Alert | null {
    const { kind: _kind, id: key, again, at, evidence, fireCount, ...words } = command;
    const last = this.#known.get(key);
    if (last?.isByHand === true && !last.isBack) {
      this.#set({ ...last, reportedAt: at });
      return null;
    }
    // after a resolution by hand it is another alert
    const isOther = last?.isByHand === true;
    const known = isOther ? undefined : last;
    if (known === undefined && !mayTake()) return null;
    const before = known?.alert;
    const openedAt = before === undefined || before.state === 'resolved' ? at : (known?.openedAt ?? 0);
    const uncounted = isOther ? fireCount - 1 : (known?.uncounted ?? 0);
    const alert: Alert = {
      ...{ tenantId, retentionDays, ...words, id: before?.id ?? (isOther ? (again ?? key) : key) },
      evidence: openedAt === 0 ? evidence : JSON.stringify({ ...objectOf(evidence), opened_at: timeText(openedAt) }),
      ...{ state: 'firing', fireCount: fireCount - uncounted, updatedAt: at, firedAt: before?.firedAt ?? at, resolvedAt: null, note: '' },
      incidentId: before === undefined ? this.#incidents.join(tenantId, words.service, at) : before.incidentId,
    };
    this.#set({ key, alert, openedAt, isByHand: false, isBack: false, uncounted, reporter, reportedAt: at });
    return alert;
  }

  #end({ id, at, note }: Back): Alert | null {
    const known = this.#known.get(id);
    if (known === undefined) return null;
    const { alert, isByHand } = known;
    if (isByHand || alert.state === 'resolved') {
      this.#set({ ...known, isBack: true, reportedAt: at });
      return null;
    }
    const ended: Alert = { ...alert, state: 'resolved', resolvedAt: at, updatedAt: at, note };
    this.#set({ ...known, alert: ended, isBack: true, reportedAt: at });
    return ended;
  }

  /** An alert that is not remembered is as it was shown. */
  #resolve({ alert: shown, note }: Resolved, { mayTake }: Reporter, now: number): Alert | null {
    const known = this.#find(shown.id);
    const before = known?.alert ?? shown;
    const wasFiring = before.state === 'firing';
    if (!wasFiring && (note === '' || before.note !== '')) return null;
    const alert: Alert = { ...before, state: 'resolved', resolvedAt: wasFiring ? now : before.resolvedAt, updatedAt: now, note };
    const own = known ?? { key: shown.id, openedAt: 0, isByHand: true, isBack: !wasFiring, uncounted: 0, reporter: '' };
    const isBack = wasFiring ? false : own.isBack;
    if (known !== undefined || mayTake()) this.#set({ ...own, alert, isByHand: wasFiring || own.isByHand, isBack, reportedAt: now });
    return alert;
  }

  #carry({ alert, isByHand, openedAt }: Carried, { reporter }: Reporter): null {
    if (this.#known.has(alert.id)) return null;
    this.#set({ key: alert.id, alert, openedAt, isByHand, isBack: false, uncounted: 0, reporter, reportedAt: alert.updatedAt });
    if (alert.incidentId !== null) this.#incidents.carry(alert.service, alert.incidentId, alert.firedAt);
    return null;
  }

  #find(id: number): Known | undefined {
    const own = this.#known.get(id);
    if (own?.alert.id === id) return own;
    for (const known of this.#known.values()) if (known.alert.id === id) return known;
    return undefined;
  }

  #set(known: Known): void {
    this.#known.set(known.key, known);
  }

  /** Of one who tells, whose time it is. At one time once: thousands may be told at a time. */
  #forget(reporter: string, now: number): void {
    if (now <= (this.#forgotAt.get(reporter) ?? 0)) return;
    this.#forgotAt.set(reporter, now);
    for (const { key, alert, isByHand, isBack, reportedAt, reporter: own } of this.#known.values()) {
      if (own !== reporter || alert.state === 'firing') continue;
      const most = isByHand && !isBack ? BY_HAND_REMEMBERED : REMEMBERED;
      if (Math.max(reportedAt, alert.updatedAt) < now - most) this.#known.delete(key);
    }
  }
}
