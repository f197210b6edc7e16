import { FIGURES, valueOf } from './figures.ts';
import type { Outcome } from './simulate.ts';

type Row = readonly string[];
/** A table of the page: what it is about, its head, and its rows. */
export type Section = { readonly title: string; readonly head: Row; readonly rows: readonly Row[] };

/** Sets and shards of a set that are compared. */
const SETS = [1, 2, 3];
const SHARDS = [1, 4, 16, 64];

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const short = (value: number): string => (value >= 100 ? whole(value) : value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toPrecision(2)); // prettier-ignore
const percent = (share: number): string => `${short(share * 100)} %`;
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];

/** Bytes in the unit that suits them. */
function bytesOf(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${short(bytes / 1000 ** unit)} ${String(UNITS[unit])}`;
}

/** A table with a column for each outcome. */
function compared(title: string, all: readonly Outcome[], rows: readonly (readonly [string, (outcome: Outcome) => string])[]): Section {
  return { title, head: ['A day', ...all.map(({ scenario }) => scenario.name)], rows: rows.map(([name, of]) => [name, ...all.map(of)]) };
}

/** All tables, of outcomes in the order of their volume. */
export function sectionsOf(all: readonly Outcome[]): readonly Section[] {
  return [
    compared('Load', all, [
      ['tenants', ({ scenario }) => whole(scenario.tenants)],
      ['entries/s, mean and peak', ({ meanRate, peakRate }) => `${whole(meanRate)}, ${whole(peakRate)}`],
      ['the largest tenant, of all', ({ largest }) => percent(largest.share)],
      ['its plan, and its shards', ({ largest }) => `${largest.plan}, ${whole(largest.shards)}`],
    ]),
    compared('Partitions of `logs.v1`', all, [
      ['partitions', ({ partitions }) => whole(partitions)],
      ['the hottest, in means', ({ skew }) => skew.toFixed(2)],
      ['one of a hundred is hotter than', ({ p99 }) => p99.toFixed(2)],
      ['the hottest, entries/s', ({ skew, peakRate, partitions }) => whole((skew * peakRate) / partitions)],
      [`the same with shards from ${whole(valueOf('earlyShardRate'))} entries/s on`, ({ earlyHottest }) => whole(earlyHottest)],
      ['the hottest of the largest tenant', ({ hotPartition }) => whole(hotPartition)],
      ['tenants that move when partitions double', ({ rebalance }) => percent(rebalance.movedByDoubling)],
    ]),
    compared('Machines, one set', all, [
      ['CPU an entry, µs, one replica', ({ machines }) => machines.micros.toFixed(1)],
      ['cores at the peak: Kafka', ({ machines }) => short(machines.cores.kafka)],
      ['ClickHouse', ({ machines }) => short(machines.cores.clickhouse)],
      ['ingest, app, sink, processors', ({ machines: { cores } }) => [cores.ingest, cores.app, cores.sink, cores.processors].map(short).join(', ')], // prettier-ignore
      ['processes of these', ({ machines: { processes } }) => [processes.ingest, processes.app, processes.sink, processes.processors].map(whole).join(', ')], // prettier-ignore
      ['replicas of the log', ({ machines }) => whole(machines.replicas)],
      ['disk: the log, rows', ({ machines }) => `${bytesOf(machines.logBytes)}, ${bytesOf(machines.rowBytes)}`],
      ['a second: network of the brokers, ClickHouse writes', ({ machines }) => `${bytesOf(machines.networkBytes)}, ${bytesOf(machines.writtenBytes)}`], // prettier-ignore
      ['ClickHouse servers that the rows need', ({ machines }) => short(machines.clickhouseServers)],
      [`nodes of ${whole(valueOf('nodeCores'))} cores and ${whole(valueOf('diskTerabytes'))} TB`, ({ machines }) => whole(machines.nodes)],
    ]),
    compared('Inserts and rebalance', all, [
      ['sink processes', ({ machines }) => whole(machines.processes.sink)],
      ['inserts/s of one, rows of an insert', ({ inserts }) => `${inserts.perSecond.toFixed(2)}, ${whole(inserts.rows)}`],
      ['new parts/s of all', ({ inserts }) => short(inserts.partsPerSecond)],
      ['entries that wait where a sink is killed', ({ rebalance }) => whole(rebalance.waiting)],
      ['until these are stored, s', ({ rebalance }) => short(rebalance.seconds)],
    ]),
    setsAndShards(all.at(-1)),
    breaksFirst(all),
  ];
}

function setsAndShards(outcome: Outcome | undefined): Section {
  if (outcome === undefined) return { title: 'Sets and shards', head: [], rows: [] };
  const { machines, inserts, scenario } = outcome;
  const cores = Object.values(machines.cores).reduce((total, used) => total + used, 0);
  const rows = SETS.flatMap((sets) => SHARDS.map((shards) => [
    whole(sets), whole(shards),
    whole(cores * (1 + (sets - 1) * valueOf('setShare'))),
    bytesOf(machines.rowBytes * sets),
    short(machines.clickhouseServers / shards),
    whole(inserts.rows / shards),
    short(inserts.partsPerSecond),
  ])); // prettier-ignore
  return {
    title: `Sets and shards of a set, ${scenario.name} a day`,
    head: ['Sets', 'Shards', 'Cores of all', 'Disk of rows', 'Fullness of a server', 'Rows of an insert', 'New parts/s of a server'],
    rows,
  };
}

function breaksFirst(all: readonly Outcome[]): Section {
  const rows = all.map(({ scenario, strains }) => {
    const [first, second] = strains;
    const shown = (strain: typeof first): string => (strain === undefined ? '' : `${strain.what}: ${percent(strain.ratio)}`);
    return [scenario.name, first !== undefined && first.ratio > 1 ? 'breaks' : 'holds', shown(first), shown(second)];
  });
  return { title: 'What breaks first', head: ['A day', '', 'First', 'Then'], rows };
}

/** The constants, as a table. */
export const figuresSection = (): Section => ({
  title: 'Constants',
  head: ['What', 'Value', 'Kind', 'Source, or why'],
  rows: Object.values(FIGURES).map(({ what, value, unit, kind, source }) => [
    what,
    `${String(value)}${unit === '' ? '' : ` ${unit}`}`,
    kind,
    source,
  ]),
});
