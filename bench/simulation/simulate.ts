import { SHARD_ENTRIES_PER_SECOND } from '../../api/control/shard-growth.ts';
import { SINK_PACE } from '../../main/roles/sink-pace.ts';
import { valueOf } from './figures.ts';
import { insertsOf, partsOfInsert, type Inserts } from './inserts.ts';
import { machinesOf, type Machines } from './machines.ts';
import { loadsOf, movedShare } from './partitions.ts';
import { tenantsOf, type Tenant } from './tenants.ts';

/** A volume of a day, and how many tenants send it. */
export type Scenario = { readonly name: string; readonly bytes: number; readonly tenants: number };

export const SCENARIOS: readonly Scenario[] = [
  { name: '10 GB', bytes: 10e9, tenants: 20 },
  { name: '1 TB', bytes: 1e12, tenants: 1000 },
  { name: '100 TB', bytes: 100e12, tenants: 20_000 },
  { name: '1 PB', bytes: 1e15, tenants: 100_000 },
];

/** What of a part is needed, in parts of what there is of it: above 1 it breaks. */
export type Strain = { readonly what: string; readonly ratio: number };

/** A killed sink process: what waits for it, and until all of that is stored, seconds. */
export type Rebalance = { readonly waiting: number; readonly seconds: number; readonly movedByDoubling: number };

/** What a day of a scenario comes to. Rates are entries/s, at the peak where nothing else is said. */
export type Outcome = {
  readonly scenario: Scenario;
  readonly meanRate: number;
  readonly peakRate: number;
  readonly partitions: number;
  readonly skew: number;
  readonly p99: number;
  readonly hotPartition: number;
  /** The hottest partition, where tenants had more shards from a lower rate on. */
  readonly earlyHottest: number;
  readonly largest: { readonly share: number; readonly plan: string; readonly shards: number; readonly peakRate: number };
  readonly machines: Machines;
  readonly inserts: Inserts & { readonly partsPerSecond: number };
  readonly rebalance: Rebalance;
  /** The greatest first. */
  readonly strains: readonly Strain[];
};

/** As many as a topic can be given (`LOGWEIR_LOG_PARTITIONS`). */
export const MOST_PARTITIONS = 2048;
const DAY_SECONDS = 86_400;

/** The partitions that a log should have for a peak: a power of two, so that shards that double use all. */
export const partitionsFor = (peakRate: number): number =>
  Math.min(MOST_PARTITIONS, Math.max(2, 2 ** Math.ceil(Math.log2(peakRate / SHARD_ENTRIES_PER_SECOND))));

/** Simulates the peak of a scenario. The same seed gives the same. */
export function simulate(scenario: Scenario, seed = 1): Outcome {
  const { bytes } = scenario;
  const meanRate = bytes / valueOf('entryBytes') / DAY_SECONDS;
  const peakRate = meanRate * valueOf('peak');
  const partitions = partitionsFor(peakRate);
  const tenants = tenantsOf({ ...scenario, seed, partitions });
  const [largest] = tenants;
  if (largest === undefined) throw new Error('BUG: a scenario without tenants.');
  const { skew, p99, hot } = loadsOf(tenants, partitions, seed);
  const machines = machinesOf({ meanRate, peakRate });
  const sinks = machines.processes.sink;
  const inserts = insertsOf(peakRate / sinks, SINK_PACE);
  const partsPerSecond = sinks * inserts.perSecond * partsOfInsert(tenants);
  const hottest = (skew * peakRate) / partitions;
  const strains = [
    { what: 'one ClickHouse server holds all rows of a set', ratio: machines.clickhouseServers },
    { what: 'the hottest partition, of what one takes', ratio: hottest / valueOf('partitionRate') },
    {
      what: `partitions, of the ${String(MOST_PARTITIONS)} that a topic can be given`,
      ratio: peakRate / SHARD_ENTRIES_PER_SECOND / MOST_PARTITIONS,
    },
    { what: 'new parts, of what a ClickHouse server merges', ratio: partsPerSecond / valueOf('partsPerSecond') },
  ].sort((a, b) => b.ratio - a.ratio);
  return {
    ...{ scenario, meanRate, peakRate, partitions, skew, p99, hotPartition: hot, machines, strains },
    earlyHottest: Math.max(...loadsOf(tenants.map(spreadEarly(partitions)), partitions, seed).loads),
    largest: { share: largest.peakRate / peakRate, plan: largest.plan.name, shards: largest.shards, peakRate: largest.peakRate },
    inserts: { ...inserts, partsPerSecond },
    rebalance: rebalanceOf(peakRate / sinks, movedShare(tenants, partitions, 2 * partitions)),
  };
}

/** A tenant whose flag `shards` gives it more of them than the service does by itself. */
const spreadEarly =
  (partitions: number) =>
  (tenant: Tenant): Tenant => {
    const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, tenant.peakRate / valueOf('earlyShardRate'))));
    return { ...tenant, shards: Math.min(partitions, Math.max(tenant.shards, wanted)) };
  };

/** A process that runs as full as is planned catches up with what is left of it. */
function rebalanceOf(ratePerProcess: number, movedByDoubling: number): Rebalance {
  const [down, busy] = [valueOf('recoverySeconds'), valueOf('busy')];
  return { waiting: ratePerProcess * down, seconds: down + (down * busy) / (1 - busy), movedByDoubling };
}
