import { dayOf, dayText } from '../../pipeline/core/day-counts.ts';
import { httpErrorOf, invalidParameter } from '../../pipeline/core/errors.ts';
import type { ControlStore } from '../control/control-store.ts';
import { projectsOf } from '../control/projects.ts';
import { savedCountOf } from '../control/saved-searches.ts';
import { checkedQuery } from '../http/lists.ts';
import type { Route, RouteContext } from '../http/route.ts';
import type { AiCredits, CreditUse } from '../limits/ai-credits.ts';
import { VOLUME_DAYS, volumeOfDays, type BilledSignal, type DayVolume, type VolumeCounts } from '../limits/day-volume.ts';
import type { Tallies } from '../limits/tallies.ts';
import { OVER_PRICE } from '../tenants/plans.ts';
import type { Principal } from '../tenants/principal.ts';
import { USAGE, USAGE_QUERY } from './described-usage.ts';

const DAY_MS = 86_400_000;
/** Services of an answer. */
const MOST_SERVICES = 100;

export type UsageRouteOptions = {
  readonly control: ControlStore;
  readonly counts: VolumeCounts & { readonly tallies: Pick<Tallies, 'of'>; rateOf(tenantId: number, topic: string): number };
  readonly signals: readonly BilledSignal[];
  readonly credits: Pick<AiCredits, 'useOf'>;
  /** What is counted in this process: queries of a key in its rate, and queries that run and open tails of a tenant. */
  readonly now: {
    readonly queries: (principal: Principal) => number | null;
    readonly running: (tenantId: number) => number;
    readonly tails: (tenantId: number) => number;
  };
  /** The entries of a day by service, as JSON. Rejects with HttpError. */
  readonly services: (context: RouteContext, day: string, most: number) => Promise<string>;
  /** What is stored of today, as JSON: `{"streams":3,"series":20}`. Rejects with HttpError. */
  readonly cardinality: (context: RouteContext) => Promise<string>;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
};

/** `GET /api/v1/tenants/{tenant_id}/usage`: what a tenant uses, what bounds it, what was refused, and what it costs. */
export function createUsageRoute(options: UsageRouteOptions): Route {
  return {
    ...{ method: 'GET', path: '/api/v1/tenants/{tenant_id}/usage', scope: 'read', operation: USAGE },
    handle: async (context) => {
      const { control, counts, signals, clock = Date.now } = options;
      const { principal, query } = context;
      const { day: wanted } = checkedQuery(USAGE_QUERY, query);
      const { tenantId, plan } = principal;
      const days = volumeOfDays(principal, { counts, signals, clock });
      const day = wanted ?? dayText(dayOf(clock()));
      if (!days.some((one) => one.day === day))
        throw invalidParameter(
          `"day" is none of the ${String(VOLUME_DAYS)} days that are known: ${days.map((one) => one.day).join(', ')}.`,
        );
      // before the queries of this request itself
      const running = options.now.running(tenantId);
      const [services, cardinality] = await Promise.all([
        counted<Services>(context, 'Services are', options.services(context, day, MOST_SERVICES)),
        counted<Cardinality>(context, 'Streams and series are', options.cardinality(context)),
      ]);
      const { taken, refused } = counts.tallies.of(tenantId, dayOf(Date.parse(day)));
      const body = {
        ...{ plan: plan.name, paid: plan.paid, day, days: days.map(shownDay) },
        price: { per_gb_over: plan.paid ? OVER_PRICE : null, currency: 'USD' },
        keys: taken.map(({ keyId, signal, bytes, rows, requests }) => ({
          ...{ key_id: keyId, name: control.key(keyId)?.name ?? null, signal, bytes, entries: rows, requests },
        })),
        refused: refused.map(({ at, ...one }) => ({ ...one, last_at: new Date(at).toISOString() })),
        limits: limitsOf(principal, days, options, running, cardinality.found),
      };
      const hints = [...services.hints, ...cardinality.hints];
      return { status: 200, body: { ...body, services: shownServices(services.found), ...(hints.length === 0 ? {} : { hints }) } };
    },
  };
}

const shownDay = ({ day, bytes, pendingBytes, signals, included, ceiling, overBytes, cost }: DayVolume): object => ({
  ...{ day, bytes, pending_bytes: pendingBytes, signals, included_bytes: included, ceiling_bytes: ceiling },
  ...{ over_bytes: overBytes, cost },
});

type Services = readonly (readonly [service: string, entries: number])[];
type Cardinality = { readonly streams: number; readonly series: number };
type Counted<Found> = { readonly found: Found | null; readonly hints: readonly string[] };

/** What storage counts. What it refuses is a hint: all else is known without it. */
async function counted<Found>(context: RouteContext, what: string, json: Promise<string>): Promise<Counted<Found>> {
  try {
    return { found: JSON.parse(await json) as Found, hints: [] };
  } catch (thrown) {
    const error = httpErrorOf(thrown);
    if (error === null || context.signal.aborted) throw thrown;
    return { found: null, hints: [`${what} not counted: ${error.message}`] };
  }
}

const shownServices = (found: Services | null): readonly object[] | null =>
  found === null ? null : found.map(([service, entries]) => ({ service, entries }));

type Limit = { readonly name: string; readonly unit: string; readonly limit: number; readonly used: number | null };
const REFILLS = 'It refills as time goes on: Retry-After of a 429 has the wait.';
const FEWER = 'Something has to be deleted, or the plan changed.';
const ENDS = 'One of those that run has to end.';
const AT_MIDNIGHT = 'At 00:00 UTC.';

/** What bounds the tenant, with what it has used of it, and when a refusal ends. */
function limitsOf(
  principal: Principal,
  days: readonly DayVolume[],
  { control, counts, signals, credits, now, clock = Date.now }: UsageRouteOptions,
  running: number,
  stored: Cardinality | null,
): object[] {
  const { tenantId, plan } = principal;
  const { ceilings, features } = plan;
  const midnight = new Date((dayOf(clock()) + 1) * DAY_MS).toISOString();
  const shown = ({ limit, ...one }: Limit, clears: string): object => ({
    ...{ ...one, limit: Number.isFinite(limit) ? limit : null, clears, clears_at: clears === AT_MIDNIGHT ? midnight : null },
  });
  const daily = ({ used, limit }: CreditUse, name: string): object =>
    shown({ name, unit: 'credits', limit: limit ?? Infinity, used }, AT_MIDNIGHT);
  const { total, features: shares } = credits.useOf(principal);
  const stop = plan.paid ? plan.ceilingBytes : plan.dailyBytes;
  // each signal has a bucket of its own
  const rate = Math.max(0, ...signals.map(({ topic }) => counts.rateOf(tenantId, topic)));
  const volume = { name: 'daily_volume', unit: 'bytes', limit: stop, used: days[0]?.bytes ?? 0 };
  return [
    shown(volume, stop === 0 ? 'A payment method has to be added.' : AT_MIDNIGHT),
    shown({ name: 'ingest_rate', unit: 'entries per second', limit: plan.entriesPerSecond, used: rate }, REFILLS),
    shown({ name: 'query_rate', unit: 'queries per minute of a key', limit: plan.queriesPerMinute, used: now.queries(principal) }, REFILLS),
    shown({ name: 'queries_at_once', unit: 'queries', limit: plan.queriesAtOnce, used: running }, ENDS),
    shown({ name: 'live_tails', unit: 'tails at once', limit: ceilings.liveTails, used: now.tails(tenantId) }, ENDS),
    shown({ name: 'streams_per_day', unit: 'streams', limit: plan.streamsPerDay, used: stored?.streams ?? null }, AT_MIDNIGHT),
    shown({ name: 'series_per_day', unit: 'series', limit: plan.seriesPerDay, used: stored?.series ?? null }, AT_MIDNIGHT),
    shown({ name: 'keys', unit: 'keys', limit: ceilings.keys, used: control.keysOf(tenantId).length }, FEWER),
    shown({ name: 'projects', unit: 'projects', limit: features.projects, used: projectsOf(control, tenantId).length }, FEWER),
    shown({ name: 'saved_searches', unit: 'saved searches', limit: ceilings.savedSearches, used: savedCountOf(control, tenantId) }, FEWER),
    daily(total, 'ai_credits'),
    ...Object.entries(shares).map(([name, use]) => daily(use, `ai_credits.${name}`)),
  ];
}
