import { idOf, type Alert } from './alert.ts';
import type { Position } from '../../processors/base/position.ts';
import { readJson } from '../../core/read-json.ts';

/** Alerts of a service that fire within so long of each other are of one incident. Seconds. */
const TOGETHER = 300;
/** Services of a tenant with an open incident; beyond it the one whose alert is the oldest is forgotten. */
const MOST_SERVICES = 1000;

/**
 * An incident that an alert has joined: a number for its service, which has a bounded size however long the name is, the incident's id, since
 * when it is open, and when the alert fired. Seconds.
 */
export type Joined = { readonly service: number; readonly id: number; readonly since: number; readonly at: number };

/** That an alert of some merger has joined an incident, as a merger takes it. */
export type IncidentInput = Position & Joined & { readonly kind: 'incident'; readonly tenantId: number };

type Open = Omit<Joined, 'service'>;
/** Releases before this one wrote the name of the service, and no `since`. */
export type WrittenIncidents = [service: number | string, open: Omit<Open, 'since'> & Partial<Open>][];

/** The number of a service. */
export const serviceKey = (service: string): number => idOf('service', service);

/**
 * The open incidents of a tenant, by service. Several mergers publish alerts; each announces on `partials.v1` which incidents its alerts join,
 * and takes the announcements of the others. Until they arrive all of them make the same id: it depends on the service and on five minutes of
 * the clock (docs/adr/0034-incidents-of-several-mergers.md).
 */
export class Incidents {
  readonly #open = new Map<number, Open>();

  get size(): number {
    return this.#open.size;
  }

  /** The incident of an alert that fires; null where it has no service. `now`: append time, seconds. */
  join(tenantId: number, service: string, now: number): number | null {
    if (service === '') return null;
    this.forget(now);
    const key = serviceKey(service);
    const open = this.#open.get(key) ?? { id: idOf('incident', tenantId, service, Math.floor(now / TOGETHER)), since: now, at: now };
    this.#set(key, { ...open, at: Math.max(open.at, now) });
    return open.id;
  }

  /** Takes what a merger has announced, maybe more than once: of two incidents of a service the earlier one stays open. */
  hear({ service, id, since, at }: Joined, now: number): void {
    this.forget(now);
    if (at < now - TOGETHER) return;
    const open = this.#open.get(service);
    const isFirst = open === undefined || since < open.since || (since === open.since && id < open.id);
    this.#set(service, { ...(isFirst ? { id, since } : open), at: Math.max(at, open?.at ?? at) });
  }

  /** What is to be announced of alerts that are published: each service with an alert that fires for the first time, once. */
  announcements(alerts: readonly Alert[]): Joined[] {
    const found = new Map<number, Joined>();
    for (const { service, state, firedAt, updatedAt, incidentId } of alerts) {
      if (state !== 'firing' || firedAt !== updatedAt || incidentId === null) continue;
      const key = serviceKey(service);
      const open = this.#open.get(key);
      if (open?.id === incidentId) found.set(key, { service: key, ...open });
    }
    return [...found.values()];
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
    for (const [service, { id, at, since = at }] of written)
      read.#set(typeof service === 'string' ? serviceKey(service) : service, { id, since, at });
    return read;
  }

  #set(service: number, open: Open): void {
    this.#open.delete(service);
    this.#open.set(service, open);
    if (this.#open.size > MOST_SERVICES) this.#open.delete(this.#open.keys().next().value ?? 0);
  }
}

/** An announcement as the value of a record. */
export const joinedText = ({ service, id, since, at }: Joined): Buffer => Buffer.from(JSON.stringify({ service, id, since, at }));

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

/** The announcement that a value has; null where it has none. */
export function readJoined(value: Buffer): Joined | null {
  try {
    const { service, id, since, at } = readJson(value.toString()) as Joined;
    return [service, id, since, at].every(isCount) ? { service, id, since, at } : null;
  } catch {
    return null;
  }
}
