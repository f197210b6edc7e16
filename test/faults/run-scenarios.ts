import path from 'node:path';
import { Random } from '../fuzz/random.ts';
import { startCluster, type Cluster, type LinkName, type ProcessName } from './cluster.ts';
import { Counters } from './counters.ts';
import type { SafetyPart } from '../../pipeline/core/fault-points.ts';
import { faultPreload, SHORT_PERIODS } from './fault-points.ts';
import { Ledger } from './ledger.ts';
import { Load, type LoadOptions, type LoadTotals } from './load.ts';
import { LoadProcess } from './load-process.ts';
import { Measures } from './measures.ts';
import { Monitor, type Memory } from './monitor.ts';
import { recoveries, type Recovery } from './recovery.ts';
import type { Scenario, ScenarioContext, TenantLoad } from './scenario.ts';
import { compareSets } from './two-sets.ts';
import { SignalLoad, type OtherSignal } from './other-signals.ts';
import { percentAtRest, recount, serviceFaults, type Recounted, type Violation } from './verdict.ts';

export type RunOptions = {
  /** They run one after the other on one cluster, under one load, and share the verdict. */
  readonly scenarios: readonly Scenario[];
  /** They run at the same time instead, and what each asks for when it is alone must hold. */
  readonly together?: boolean;
  /** For how long each goes on. */
  readonly secondsOf: (scenario: Scenario) => number;
  /** A scenario ends sooner once its counters have come to so many in sum. */
  readonly times?: number;
  /** A scenario goes on until it has done what it does at least once, for some minutes more at most: on a busy machine its time may be too short. */
  readonly once?: boolean;
  readonly seed: number;
  readonly log: (line: string) => void;
  /** Safety parts that are off, for the check of the harness itself. */
  readonly off?: readonly SafetyPart[];
  /** Entries offered in a second; the most that one of the scenarios asks for without it. */
  readonly entriesPerSecond?: number;
  /** A scenario does not wait for what the one before has left broken. */
  readonly overlapping?: boolean;
  /** What each asks for when it is alone, such as times back, need not hold: a few seconds on a busy machine tell nothing of it. */
  readonly onlyVerdict?: boolean;
  /** Called with the cluster after the verdict; `again` counts once more. */
  readonly afterwards?: (cluster: Cluster, again: () => Promise<Recounted>) => Promise<void>;
  /** Signals that are sent beside the log. */
  readonly signals?: readonly OtherSignal[];
  /** Kept after the end; a temporary folder without it, removed at the end. */
  readonly dataDir?: string;
};

export type RunReport = {
  /** Their names. */
  readonly scenarios: string;
  readonly seed: number;
  /** From the first entry to the last answer. */
  readonly seconds: number;
  readonly counters: Readonly<Record<string, number>>;
  readonly measures: Readonly<Record<string, number>>;
  readonly totals: LoadTotals;
  readonly figures: Recounted['figures'];
  readonly recoveries: readonly Recovery[];
  readonly memory: Readonly<Record<string, Memory>>;
  /** Empty: all that was acknowledged is stored, once, and counted. */
  readonly violations: readonly Violation[];
};

const OVERTIME_MS = 400_000;

/** The environment that scenarios which share a cluster ask for, by process. */
function mergedEnv(scenarios: readonly Scenario[]): NonNullable<Scenario['env']> {
  const merged: Partial<Record<ProcessName, Readonly<Record<string, string>>>> = {};
  for (const { env = {} } of scenarios)
    for (const [name, own] of Object.entries(env)) merged[name as ProcessName] = { ...merged[name as ProcessName], ...own };
  return merged;
}

/** Starts a cluster and a load, lets the scenarios loose on them, waits until all is well again, and counts. */
export async function runScenarios(options: RunOptions): Promise<RunReport> {
  const { scenarios, seed, log } = options;
  const needsPoints = scenarios.some(({ faultPoints }) => faultPoints === true);
  const { off = [], signals = [] } = options;
  const links = [...new Set(scenarios.flatMap((scenario): readonly LinkName[] => scenario.links ?? []))];
  const env = mergedEnv(scenarios);
  const kafkaSettings = Object.assign({}, ...scenarios.map((scenario) => scenario.kafkaSettings ?? {})) as Readonly<Record<string, string>>;
  const prepare = (dataDir: string): (() => void) => {
    const undo = scenarios.map((scenario) => scenario.prepare?.(dataDir));
    return () => {
      for (const step of undo) step?.();
    };
  };
  const cluster = await startCluster({
    links,
    env,
    kafkaSettings,
    prepare,
    brokers: scenarios.some(({ brokers }) => brokers === 3) ? 3 : 1,
    shards: scenarios.find(({ shards }) => shards !== undefined)?.shards ?? 0,
    brokersJoinedBy: scenarios.find(({ brokersJoinedBy }) => brokersJoinedBy !== undefined)?.brokersJoinedBy ?? null,
    log,
    settings: { LOGWEIR_SIGNALS: signals.flatMap(({ file = [] }) => file).join(',') },
    ...(options.dataDir === undefined ? {} : { dataDir: options.dataDir }),
    ...(needsPoints || off.length > 0 ? { preload: faultPreload({ off, periods: needsPoints ? SHORT_PERIODS : {} }) } : {}),
  });
  try {
    return await runOn(cluster, options);
  } finally {
    log('stopping the cluster');
    await cluster.stop();
  }

  async function runOn(cluster: Cluster, { secondsOf }: RunOptions): Promise<RunReport> {
    const ledger = new Ledger(path.join(cluster.dataDir, 'ledger.jsonl'));
    const rate = options.entriesPerSecond ?? Math.max(...scenarios.map(({ entriesPerSecond }) => entriesPerSecond ?? 2000));
    const stoodStillSince: LoadOptions['stoodStillSince'] = (api, at) => cluster.process(api).stoodStillSince(at);
    const load = new Load({ cluster, ledger, seed, entriesPerSecond: rate, stoodStillSince });
    const others: (Load | LoadProcess)[] = [];
    const optionsOf = ({ key, ...rest }: TenantLoad): Omit<LoadOptions, 'ledger'> => {
      const prefix = String(100 * (others.length + 1));
      return { cluster: { apis: cluster.apis, key }, seed: seed + 2 + others.length, prefix, ...rest };
    };
    const startLoad: ScenarioContext['startLoad'] = (tenant) => {
      const other = new Load({ ...optionsOf(tenant), ledger });
      others.push(other);
      other.start();
      return other;
    };
    const startLoadProcess: ScenarioContext['startLoadProcess'] = (tenant) => {
      const other = new LoadProcess(optionsOf(tenant), ledger);
      others.push(other);
      return other;
    };
    const beside = signals.map((signal, index) => new SignalLoad(signal, cluster, seed + 1000 + index));
    const monitor = new Monitor(cluster);
    const counters = new Counters();
    const measures = new Measures();
    const began = Date.now();
    monitor.start();
    load.start();
    try {
      await Promise.all(beside.map((one) => one.start()));
      const runOne = async (scenario: Scenario, random: Random): Promise<void> => {
        const seconds = secondsOf(scenario);
        const end = Date.now() + seconds * 1000;
        const before = counters.total;
        const enough = before + (options.times ?? Infinity);
        const left = (): number => {
          if (counters.total >= enough) return 0;
          const isDue = options.once === true && counters.total === before;
          return Math.max(0, end + (isDue ? OVERTIME_MS : 0) - Date.now());
        };
        log(`${scenario.name}: ${String(seconds)} s, seed ${String(seed)}`);
        await scenario.run({
          cluster,
          load,
          ledger,
          startLoad,
          startLoadProcess,
          random,
          seconds,
          over: () => left() === 0,
          wait: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, left()))),
          log: (line) => {
            log(`  ${line}`);
          },
          counters,
          measures,
          stored: monitor.stored,
        });
        if (options.overlapping === true || options.together === true) return;
        await cluster.untilReady();
        log(`  every process is ready again; ${String(load.totals.ackedEntries)} entries acknowledged, ${JSON.stringify(counters)}`);
      };
      if (options.together === true) await Promise.all(scenarios.map((scenario, index) => runOne(scenario, new Random(seed + 1 + index))));
      else {
        const random = new Random(seed + 1);
        for (const scenario of scenarios) await runOne(scenario, random);
      }
      await cluster.untilReady();
    } finally {
      await Promise.all([load, ...others, ...beside].map((one) => one.stop()));
      await monitor.stop();
      await ledger.close();
    }
    const seconds = Math.round((Date.now() - began) / 1000);
    const apart = scenarios.some(({ shards }) => shards !== undefined) ? await compareSets({ cluster, began, measures, log }) : [];
    log('counting again');
    const { figures, violations } = await recount(cluster, ledger.file);
    const counted: Violation[] = [];
    for (const one of beside) counted.push(...(await one.violations()));
    signals.forEach(({ name }, index) => measures.set(`rows of ${name} acknowledged`, beside[index]?.rows ?? 0));
    for (const scenario of scenarios) counted.push(...((await scenario.recount?.(cluster, measures)) ?? []));
    monitor.lookAtRest();
    const atRest = percentAtRest(monitor.memory);
    if (atRest !== null) measures.set('memory of a process at rest, % of the most in its first minute', Math.round(atRest));
    const isJudged = options.onlyVerdict !== true && (scenarios.length === 1 || options.together === true);
    await options.afterwards?.(cluster, () => recount(cluster, ledger.file));
    return {
      scenarios: scenarios.map(({ name }) => name).join(options.together === true ? ' + ' : ', '),
      seed,
      seconds,
      counters: counters.toJSON(),
      measures: measures.toJSON(),
      totals: load.totals,
      figures,
      recoveries: recoveries(cluster.events, load.acks, monitor.stored),
      memory: monitor.memory,
      violations: [
        ...violations,
        ...apart,
        ...counted,
        ...serviceFaults(load.totals, monitor.memory, path.join(cluster.dataDir, 'logs')),
        ...(isJudged ? scenarios : []).flatMap((one) => one.check?.(load.totals, measures) ?? []),
      ],
    };
  }
}
