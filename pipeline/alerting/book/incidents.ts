import { idOf } from './alert.ts';

/** Alerts of a service that fire within so long of each other are of one incident. Seconds. */
const TOGETHER = 300;
/** Services of a tenant with an open incident; beyond it the one whose alert is the oldest is forgotten. */
const MOST_SERVICES = 1000;

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
    if (this.#open.size > MOST_SERVICES) this.#open.delete(this.#open.keys().next().value ?? 0);
  }
}
