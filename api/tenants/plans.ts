/** What an account may use. `projects` is how many in addition to the first; 0 is off. */
export type Features = { readonly metrics: boolean; readonly replay: boolean; readonly projects: number; readonly ai: boolean };

/** AI credits of a UTC day: of all features, and of those that have a share of their own. */
export type Credits = { readonly daily: number; readonly deepRca: number; readonly playbookImport: number };

/** How many of each thing an account may have. Infinity: no limit. */
export type Ceilings = {
  readonly users: number;
  readonly keys: number;
  /** Open at once in one process. */
  readonly liveTails: number;
  readonly dashboards: number;
  readonly savedSearches: number;
};

/** The limits and features of an account. Infinity: no limit. */
export type Plan = {
  readonly name: string;
  /** Refill rate of the tenant's ingest bucket. */
  readonly entriesPerSecond: number;
  /** Included volume of a UTC day; 0 blocks ingest. */
  readonly dailyBytes: number;
  /** Volume of a UTC day at which ingest stops. */
  readonly ceilingBytes: number;
  /** Query rate of one key. */
  readonly queriesPerMinute: number;
  /** Queries of the tenant that run at once; more wait, and too many are refused. */
  readonly queriesAtOnce: number;
  /** 0: kept for ever. */
  readonly retentionDays: number;
  /** Most streams of a day; entries of further ones go to the stream `{}`. */
  readonly streamsPerDay: number;
  /** Most series of metrics that are active on a day; new ones beyond it are rejected. */
  readonly seriesPerDay: number;
  /** Names of metrics and labels may have any characters, as OpenTelemetry has them; else dots become underscores. */
  readonly utf8Names: boolean;
  /** To how many partitions of `logs.v1` its entries go at least; what a tenant has got beyond that it keeps. */
  readonly shards: number;
  /** Rules that it may have (docs/rules.md). */
  readonly rules: number;
  readonly features: Features;
  readonly ceilings: Ceilings;
  readonly credits: Credits;
  /** The plan is paid for: ingest goes on past the included volume. */
  readonly paid: boolean;
};

/** Bytes of the unit of volumes and prices. */
export const GB = 1_000_000_000;
/** What a GB costs beyond the included volume of a paid plan. US dollars. */
export const OVER_PRICE = 0.2;
const NO_LIMIT = Infinity;
/** No ceilings but that of live tails. */
const ceilings = (liveTails: number): Ceilings => ({
  ...{ users: NO_LIMIT, keys: NO_LIMIT, dashboards: NO_LIMIT, savedSearches: NO_LIMIT },
  liveTails,
});
const SMALL_CREDITS: Credits = { daily: 200, deepRca: 40, playbookImport: 20 };
const UNLIMITED_CREDITS: Credits = { daily: NO_LIMIT, deepRca: NO_LIMIT, playbookImport: NO_LIMIT };
/** The ceiling of a paid plan, in included volumes. */
const CEILING = 10;
const STREAMS_PER_DAY = 1_000_000;
const QUERIES_AT_ONCE = 4;
/** As many as a tenant can have. */
export const MOST_QUERIES_AT_ONCE = 16;
const RULES = 20;
/** As many as a tenant can have. */
const MOST_RULES = 50;

/** Every plan, one row each. */
export const PLANS: readonly Plan[] = [
  {
    name: 'trial',
    entriesPerSecond: 500,
    dailyBytes: 73 * GB,
    ceilingBytes: 73 * GB,
    queriesPerMinute: 1200,
    queriesAtOnce: QUERIES_AT_ONCE,
    retentionDays: 14,
    streamsPerDay: STREAMS_PER_DAY,
    seriesPerDay: 100_000,
    utf8Names: false,
    shards: 1,
    rules: RULES,
    features: { metrics: true, replay: false, projects: 0, ai: true },
    ceilings: ceilings(20),
    credits: SMALL_CREDITS,
    paid: false,
  },
  {
    name: 'team',
    entriesPerSecond: 500,
    dailyBytes: 34 * GB,
    ceilingBytes: CEILING * 34 * GB,
    queriesPerMinute: 1200,
    queriesAtOnce: QUERIES_AT_ONCE,
    retentionDays: 30,
    streamsPerDay: STREAMS_PER_DAY,
    seriesPerDay: 500_000,
    utf8Names: false,
    shards: 1,
    rules: RULES,
    features: { metrics: true, replay: true, projects: 0, ai: true },
    ceilings: ceilings(100),
    credits: SMALL_CREDITS,
    paid: true,
  },
  {
    name: 'growth',
    entriesPerSecond: 2000,
    dailyBytes: 135 * GB,
    ceilingBytes: CEILING * 135 * GB,
    queriesPerMinute: 3000,
    queriesAtOnce: QUERIES_AT_ONCE,
    retentionDays: 30,
    streamsPerDay: STREAMS_PER_DAY,
    seriesPerDay: 2_000_000,
    utf8Names: false,
    shards: 2,
    rules: RULES,
    features: { metrics: true, replay: true, projects: 5, ai: true },
    ceilings: ceilings(200),
    credits: { daily: 500, deepRca: 100, playbookImport: 50 },
    paid: true,
  },
  {
    name: 'custom',
    entriesPerSecond: 10_000,
    dailyBytes: NO_LIMIT,
    ceilingBytes: NO_LIMIT,
    queriesPerMinute: NO_LIMIT,
    queriesAtOnce: QUERIES_AT_ONCE,
    retentionDays: 365,
    streamsPerDay: STREAMS_PER_DAY,
    seriesPerDay: 2_000_000,
    utf8Names: false,
    shards: 2,
    rules: MOST_RULES,
    features: { metrics: true, replay: true, projects: 0, ai: true },
    ceilings: ceilings(500),
    credits: UNLIMITED_CREDITS,
    paid: true,
  },
  {
    name: 'trial_expired',
    entriesPerSecond: 100,
    dailyBytes: 0,
    ceilingBytes: 0,
    queriesPerMinute: 300,
    queriesAtOnce: QUERIES_AT_ONCE,
    retentionDays: 14,
    streamsPerDay: STREAMS_PER_DAY,
    seriesPerDay: 100_000,
    utf8Names: false,
    shards: 1,
    rules: RULES,
    features: { metrics: false, replay: false, projects: 0, ai: false },
    ceilings: { users: 3, keys: 2, liveTails: 2, dashboards: 25, savedSearches: 50 },
    credits: { daily: 0, deepRca: 0, playbookImport: 0 },
    paid: false,
  },
  {
    name: 'unlimited',
    entriesPerSecond: NO_LIMIT,
    dailyBytes: NO_LIMIT,
    ceilingBytes: NO_LIMIT,
    queriesPerMinute: NO_LIMIT,
    queriesAtOnce: MOST_QUERIES_AT_ONCE,
    retentionDays: 0,
    streamsPerDay: NO_LIMIT,
    seriesPerDay: NO_LIMIT,
    utf8Names: false,
    shards: 1,
    rules: MOST_RULES,
    features: { metrics: true, replay: true, projects: 100, ai: true },
    ceilings: ceilings(1000),
    credits: UNLIMITED_CREDITS,
    paid: true,
  },
];

/** Other names under which a plan is requested. */
const PLAN_ALIASES: Readonly<Record<string, string>> = { free: 'trial', enterprise: 'custom' };

/** The plan of this name or alias, or undefined. */
export function findPlan(name: string): Plan | undefined {
  const own = Object.hasOwn(PLAN_ALIASES, name) ? PLAN_ALIASES[name] : name;
  return PLANS.find((plan) => plan.name === own);
}
