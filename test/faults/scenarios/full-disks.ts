import os from 'node:os';
import path from 'node:path';
import { API_NAMES } from '../cluster.ts';
import type { Scenario } from '../scenario.ts';
import { fill, freePercent, makeRoom, mountSmallDisk, whyNoSmallDisk } from '../small-disk.ts';
import { ackedBetween, caughtUp, entriesPerSecond, rowsAt } from './catch-up.ts';
import { allChecks, delivered, slowRefusals } from './checks.ts';
import { bounded } from './measured.ts';
import { watchAnswers } from './refusals.ts';
import { keepSearching } from './searches.ts';
import { within } from './victims.ts';

const KAFKA_MIB = 600;
const CLICKHOUSE_MIB = 800;
/** What the service keeps free: of Kafka's disk by its guard, of ClickHouse's by ClickHouse itself. Percent. */
const [KAFKA_FREE, CLICKHOUSE_FREE] = [10, 5] as const;
const RESUME_MS = 60_000;
/** How the disk fills in the end: some 1 % a second. */
const STEP_MS = 250;

const cannotRun = (): string | null => whyNoSmallDisk(os.tmpdir());

/** Fills a disk quickly until little more than `free` percent are left, then slowly, as a log does, until it is told to stop or `least` are left. */
async function fillUp(folder: string, free: number, least: number, isEnough: () => boolean): Promise<void> {
  while (await fill(folder, 8, free + 2));
  while (!isEnough() && (await fill(folder, 1, least))) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
}

const FREE_AT_REFUSAL = 'full disk of Kafka: free at the first 429 wal_full, %';
const STARTS = 'full disk of Kafka: ends of the broker';
const RESUMED = 'full disk of Kafka: from room to the first acknowledgement, ms';

/** The guard (pipeline/bus/measured/log-guard.ts) must be faster than the disk. */
export const kafkaDiskFull: Scenario = {
  name: 'kafka-disk-full',
  about: `Kafka's disk, of ${String(KAFKA_MIB)} MB, fills up; after a while there is room again.`,
  alone: true,
  sampleSeconds: 12,
  env: Object.fromEntries(API_NAMES.map((name) => [name, { LOGWEIR_MIN_FREE_DISK_PERCENT: String(KAFKA_FREE) }])),
  cannotRun,
  prepare: (dataDir) => mountSmallDisk(path.join(dataDir, 'kafka'), KAFKA_MIB),
  async run(context) {
    const { cluster, load, counters, measures, seconds, wait, log } = context;
    const folder = path.join(cluster.dataDir, 'kafka');
    const starts = cluster.process('kafka').starts;
    const watched = watchAnswers(load);
    await wait(seconds * 100);
    await fillUp(folder, KAFKA_FREE, KAFKA_FREE / 3, () => watched.first('wal_full') !== undefined);
    await within(10_000, () => watched.first('wal_full') !== undefined);
    const full = watched.first('wal_full');
    if (full !== undefined) measures.set(FREE_AT_REFUSAL, await freePercent(folder));
    counters.add('full disks of kafka');
    log(`Kafka's disk has ${(await freePercent(folder)).toFixed(1)} % free`);
    await wait(seconds * 600);
    measures.set('full disk of Kafka: free after a while without room, %', await freePercent(folder));
    measures.set(STARTS, cluster.process('kafka').starts - starts);
    const now = Date.now();
    // what was let in just before may be acknowledged a little later
    if (full !== undefined)
      measures.set('full disk of Kafka: requests acknowledged from 3 s after the first 429 on', watched.acksBetween(full + 3000, now));
    makeRoom(folder);
    if (await within(RESUME_MS, () => watched.firstAckAfter(now) !== undefined))
      measures.set(RESUMED, (watched.firstAckAfter(now) ?? 0) - now);
    watched.end();
  },
  check: (totals, measures) => [
    ...slowRefusals(totals),
    ...bounded(measures, FREE_AT_REFUSAL, { least: 5, most: KAFKA_FREE }),
    ...bounded(measures, STARTS, { most: 0 }),
    ...bounded(measures, RESUMED, { most: 10_000 }),
  ],
};

const ACKED_SHARE = 'full disk of ClickHouse: acknowledgements per second, % of those before';
const SEARCHED = 'full disk of ClickHouse: searches that were not answered with 200';
const STALLED = 'full disk of ClickHouse: rows stored while it was full';

/** ClickHouse refuses inserts while less than its share is free (min_free_disk_ratio_to_perform_insert), and merges and queries go on. */
export const clickhouseDiskFull: Scenario = {
  name: 'clickhouse-disk-full',
  about: `ClickHouse's disk, of ${String(CLICKHOUSE_MIB)} MB, fills up; after a while there is room again.`,
  alone: true,
  sampleSeconds: 20,
  cannotRun,
  prepare: (dataDir) => mountSmallDisk(path.join(dataDir, 'clickhouse'), CLICKHOUSE_MIB),
  async run(context) {
    const { cluster, counters, measures, seconds, wait, log } = context;
    const folder = path.join(cluster.dataDir, 'clickhouse');
    const before = Date.now();
    await wait(Math.max(3000, seconds * 100));
    await fillUp(folder, CLICKHOUSE_FREE, CLICKHOUSE_FREE / 2, () => false);
    counters.add('full disks of clickhouse');
    log(`ClickHouse's disk has ${(await freePercent(folder)).toFixed(1)} % free`);
    const full = Date.now();
    const searches = keepSearching(cluster);
    await new Promise((resolve) => setTimeout(resolve, Math.max(8000, seconds * 400)));
    await searches.stop();
    const room = Date.now();
    measures.set('full disk of ClickHouse: seconds without room', (room - full) / 1000);
    measures.set('full disk of ClickHouse: free after a while without room, %', await freePercent(folder));
    // ranges that were under way when the disk became full
    measures.set(STALLED, rowsAt(context, room) - rowsAt(context, full + 2000));
    measures.set(ACKED_SHARE, (100 * entriesPerSecond(context, full, room)) / entriesPerSecond(context, before, full));
    measures.set('full disk of ClickHouse: searches answered with 200', searches.answers.filter(({ status }) => status === 200).length);
    measures.set(SEARCHED, searches.answers.filter(({ status }) => status !== 200).length);
    makeRoom(folder);
    const end = await caughtUp(context, room);
    measures.set('full disk of ClickHouse: from room until all is stored, s', (end - room) / 1000);
    log(`stored again; ${String(ackedBetween(context, full, room))} entries had come meanwhile`);
  },
  check: (totals, measures) => [
    ...allChecks(slowRefusals, delivered)(totals),
    ...bounded(measures, STALLED, { most: 0 }),
    ...bounded(measures, ACKED_SHARE, { least: 90 }),
    ...bounded(measures, SEARCHED, { most: 0 }),
  ],
};
