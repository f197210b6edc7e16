import { idOf, type Alert } from '../../alerts/alert.ts';
import type { Position } from '../processor.ts';

/** Alerts of a service that fire within so long of each other are of one incident. Seconds. */
const TOGETHER = 300;
/** Services of a tenant with an incident that goes on; beyond it the one whose alert is the oldest is forgotten. */
const MOST_SERVICES = 1000;
/** As long as the service of an alert may be. */
const MAX_SERVICE = 2048;

/** An incident to which an alert came: which one, since when it goes on, and when the alert fired. Seconds. */
export type Joined = { readonly service: string; readonly id: number; readonly since: number; readonly at: number };

/** That an alert of another merger came to an incident, as a merger takes it. */
export type IncidentInput = Position & Joined & { readonly kind: 'incident'; readonly tenantId: number };

type Open = Omit<Joined, 'service'>;
/** `since` is not there in what releases before wrote that had no incidents over several mergers. */
export type WrittenIncidents = [service: string, open: Omit<Open, 'since'> & Partial<Open>][];

/**
 * The incidents of a tenant that go on, by service. Several mergers tell alerts; each says to which incident its alerts come, on `partials.v1`,
 * and hears the others. Before they have heard of each other they find the same id all the same, as it is made of the service and of five
 * minutes of the clock (docs/adr/0034-incidents-of-several-mergers.md).
 */
export class Incidents {
  readonly #open = new Map<string, Open>();

  get size(): number {
    return this.#open.size;
  }

  /** To which incident an alert comes that fires; null where it has no service. `now`: append time, seconds. */
  join(tenantId: number, service: string, now: number): number | null {
    if (service === '') return null;
    this.forget(now);
    const open = this.#open.get(service);
    if (open === undefined) {
      const id = idOf('incident', tenantId, service, Math.floor(now / TOGETHER));
      this.#set(service, { id, since: now, at: now });
      return id;
    }
    this.#set(service, { ...open, at: Math.max(open.at, now) });
    return open.id;
  }

  /** Takes what another merger has said, maybe more than once: of two incidents of a service the earlier one goes on. */
  hear({ service, id, since, at }: Joined, now: number): void {
    this.forget(now);
    if (service === '' || at < now - TOGETHER) return;
    const open = this.#open.get(service);
    const isFirst = open === undefined || since < open.since || (since === open.since && id < open.id);
    this.#set(service, { ...(isFirst ? { id, since } : open), at: Math.max(at, open?.at ?? at) });
  }

  /** What the others are to hear of alerts that were told: of each service the last one that fires for the first time. */
  news(alerts: readonly Alert[]): Joined[] {
    const news = new Map<string, Joined>();
    for (const { service, state, firedAt, updatedAt, incidentId } of alerts) {
      const open = this.#open.get(service);
      if (open?.id === incidentId && state === 'firing' && firedAt === updatedAt) news.set(service, { service, ...open });
    }
    return [...news.values()];
  }

  /** Forgets those to which no alert came lately. */
  forget(now: number): void {
    for (const [service, { at }] of this.#open) if (at < now - TOGETHER) this.#open.delete(service);
  }

  toJSON(): WrittenIncidents {
    return [...this.#open];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(written: WrittenIncidents): Incidents {
    const read = new Incidents();
    for (const [service, { id, at, since = at }] of written) read.#open.set(service, { id, since, at });
    return read;
  }

  #set(service: string, open: Open): void {
    this.#open.delete(service);
    this.#open.set(service, open);
    if (this.#open.size > MOST_SERVICES) this.#open.delete(this.#open.keys().next().value ?? '');
  }
}

/** That an alert came to an incident, as the value of a record. */
export const joinedText = ({ service, id, since, at }: Joined): Buffer => Buffer.from(JSON.stringify({ service, id, since, at }));

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

/** What a value says; null where it is no such thing. */
export function readJoined(value: Buffer): Joined | null {
  try {
    const { service, id, since, at } = JSON.parse(value.toString()) as Joined;
    const isWhole = typeof service === 'string' && service.length <= MAX_SERVICE && [id, since, at].every(isCount);
    return isWhole ? { service, id, since, at } : null;
  } catch {
    return null;
  }
}
