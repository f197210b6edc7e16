import { idOf, type Alert, alertRow, alertRecords } from './alert.ts';
import { objectOf, readJson } from '../../core/read-json.ts';
import type { AlertCommand, Back, Carried, Fires, Resolved, CommandsInput } from './command.ts';
import { timeText } from './shown-alert.ts';
import { alertBytes, SizedMap } from './sized-map.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { isOn } from '../../core/fault-points.ts';
import { ByteReader, ByteWriter, unlessDamaged } from '../../core/snapshot-bytes.ts';
import { mostOf, type Bounds } from '../../processors/base/bounds.ts';
import type { Fold, Tick } from '../../processors/base/processor.ts';
import { whole } from '../../processors/base/slices.ts';
import { Taken } from '../../processors/base/taken.ts';

const VERSION = 1;
const MIB = 1024 * 1024;
/** Of what alerts take of a partition: they fit into a snapshot of 64 MiB. */
const BOUNDS: Bounds = { most: 32 * MIB, ofTenant: 12 * MIB, few: 0.5 * MIB, last: 48 * MIB };
/** Who may tell, at most. */
const MOST_REPORTERS = 100;
/** How often it is looked for what is over of tenants of which nothing comes: by append time, milliseconds. */
const SWEEP_MS = 3_600_000;
/** Versions of rows were offsets on `partials.v1` in releases before; all of these are less. */
export const FIRST_VERSION = 2 ** 44;

/** The alerts of a partition of `alert-commands.v1`. */
export type Books = {
  readonly tenants: Map<number, AlertBook>;
  /** What was had of each who tells. */
  readonly taken: Map<string, Taken>;
  /** Bytes of all books, about. */
  bytes: number;
  sweptAt: number;
};

const TAKES_ONCE = isOn('state-taken');

/**
 * The book of alerts (docs/adr/0038-alerting.md): folds what sources have found and what users have resolved, each once, and publishes
 * each alert that has changed, whole.
 */
export const alertBook: Fold<Books, CommandsInput | Tick> = {
  name: 'alert-book',
  init: () => ({ tenants: new Map(), taken: new Map(), bytes: 0, sweptAt: 0 }),

  fold(state, input) {
    sweep(state, input.appendedAt);
    return input.kind === 'tick' || (!isNew(state, input) && TAKES_ONCE) ? [] : publish(state, input);
  },

  snapshot: (state) => whole(slices(state)),
  slices,

  restore(bytes) {
    const from = new ByteReader(bytes);
    return unlessDamaged(() => {
      if (from.count() !== VERSION) return null;
      const state: Books = { tenants: new Map(), taken: new Map(), bytes: 0, sweptAt: from.count() };
      for (let left = from.count(MOST_REPORTERS); left > 0; left--) state.taken.set(from.text(), Taken.read(from));
      for (let left = from.count(0xffff_ffff); left > 0; left--) {
        const tenantId = from.count(0xffff_ffff);
        const book = AlertBook.from(readJson(Buffer.from(from.text(), 'latin1').toString()));
        state.tenants.set(tenantId, book);
        state.bytes += book.bytes;
      }
      return from.isAtEnd ? state : null;
    });
  },
};

function* slices({ tenants, taken, sweptAt, bytes }: Books): Generator<undefined, Buffer> {
  // memory that is not written to is not taken
  const to = new ByteWriter(4096 + bytes);
  for (const number of [VERSION, sweptAt, taken.size]) to.count(number);
  for (const [reporter, own] of taken) {
    to.text(reporter);
    own.write(to);
  }
  to.count(tenants.size);
  for (const [tenantId, book] of tenants) {
    to.count(tenantId);
    to.text(Buffer.from(JSON.stringify(book)).toString('latin1'));
    yield;
  }
  return to.finish();
}

/** False for a record that was there before. */
function isNew({ taken }: Books, { reporter, source }: CommandsInput): boolean {
  if (source === null) return true;
  let own = taken.get(reporter);
  if (own === undefined) {
    if (taken.size >= MOST_REPORTERS) return false;
    taken.set(reporter, (own = new Taken()));
  }
  return own.take(source);
}

/** The records of the alerts that a record of commands has changed. */
function publish(
  state: Books,
  { partition, offset, appendedAt, tenantId, retentionDays, reporter, commands }: CommandsInput,
): AbsoluteRecord[] {
  let book = state.tenants.get(tenantId);
  if (book === undefined) state.tenants.set(tenantId, (book = new AlertBook()));
  const own = book;
  const before = own.bytes;
  const who = { reporter, tenantId, retentionDays, mayTake: () => own.bytes < mostOf(before, state.bytes, BOUNDS) };
  // of an alert the last word counts
  const changed = new Map<number, Alert>();
  for (const command of commands) {
    const alert = own.take(command, who, Math.floor(appendedAt / 1000));
    if (alert !== null) changed.set(alert.id, alert);
  }
  state.bytes += own.bytes - before;
  const rows = [...changed.values()].map((alert) => alertRow(alert, FIRST_VERSION + offset));
  return alertRecords(partition, rows);
}

/** Forgets, each hour, what nobody tells anything of. */
function sweep(state: Books, appendedAt: number): void {
  if (appendedAt < state.sweptAt + SWEEP_MS) return;
  state.sweptAt = appendedAt;
  state.bytes = 0;
  for (const [tenantId, book] of state.tenants) {
    book.sweep(Math.floor(appendedAt / 1000));
    if (book.isEmpty) state.tenants.delete(tenantId);
    else state.bytes += book.bytes;
  }
}

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

/** Alerts of a service that fire within so long of each other are of one incident. Seconds. */
const TOGETHER = 300;
/** Services of a tenant with an open incident; beyond it the one whose alert is the oldest is forgotten. */
const MOST_INCIDENTS = 1000;

/** An incident's id, since when it is open, and when its last alert fired. Seconds. */
type Open = { readonly id: number; readonly since: number; readonly at: number };
export type WrittenIncidents = [service: number, open: Open][];

/** The number of a service. */
export const serviceKey = (service: string): number => idOf('service', service);

/** The open incidents of a tenant, by service: a number, which has a bounded size however long the name is. */
export class Incidents {
  readonly #open = new Map<number, Open>();

  get size(): number {
    return this.#open.size;
  }

  /** The incident of an alert that fires; null where it has no service. `now`: append time, seconds; it may go back a little. */
  join(tenantId: number, service: string, now: number): number | null {
    if (service === '') return null;
    const key = serviceKey(service);
    const known = this.#open.get(key);
    const isOpen = known !== undefined && now <= known.at + TOGETHER && now >= known.since - TOGETHER;
    const open = isOpen ? known : { id: idOf('incident', tenantId, service, Math.floor(now / TOGETHER)), since: now, at: now };
    // what is told late does not end what has begun since
    if (isOpen || known === undefined || now > known.at) this.#set(key, { ...open, at: Math.max(open.at, now) });
    this.forget(now);
    return open.id;
  }

  /** Takes an incident that an alert has joined, as a release before kept it: of two of a service the earlier one stays open. */
  carry(service: string, id: number, at: number): void {
    const key = serviceKey(service);
    const open = this.#open.get(key);
    if (open === undefined || at > open.at + TOGETHER) this.#set(key, { id, since: at, at });
    else if (open.id === id) this.#set(key, { id, since: Math.min(open.since, at), at: Math.max(open.at, at) });
  }

  /** Forgets those that no alert has joined lately. */
  forget(now: number): void {
    for (const [service, { at }] of this.#open) if (at < now - TOGETHER) this.#open.delete(service);
  }

  toJSON(): WrittenIncidents {
    return [...this.#open];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(written: WrittenIncidents): Incidents {
    const read = new Incidents();
    for (const [service, open] of written) read.#set(service, open);
    return read;
  }

  #set(service: number, open: Open): void {
    this.#open.delete(service);
    this.#open.set(service, open);
    if (this.#open.size > MOST_INCIDENTS) this.#open.delete(this.#open.keys().next().value ?? 0);
  }
}
