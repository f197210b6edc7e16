import type { Random } from '../fuzz/random.ts';
import type { Cluster, LinkName, ProcessName } from './cluster.ts';
import type { Counters } from './counters.ts';
import type { Ledger } from './ledger.ts';
import type { Load, LoadOptions, LoadTotals } from './load.ts';
import type { LoadProcess } from './load-process.ts';
import type { Measures } from './measures.ts';
import type { Stored } from './monitor.ts';
import type { Violation } from './verdict.ts';

/** What a tenant beside the first one offers. */
export type TenantLoad = Pick<LoadOptions, 'entriesPerSecond' | 'batch' | 'once'> & { readonly key: string };

/** What a scenario works with while the load runs. */
export type ScenarioContext = {
  readonly cluster: Cluster;
  readonly load: Load;
  /** What is sent beside a load is told here. */
  readonly ledger: Pick<Ledger, 'append'>;
  /** Starts a load beside it, of another tenant's key; the run waits for it as for its own. */
  readonly startLoad: (options: TenantLoad) => Load;
  /** The same in a process of its own, so that what it costs to make large requests does not delay the others. */
  readonly startLoadProcess: (options: TenantLoad) => LoadProcess;
  /** Seeded: the same seed makes the same choices, though not the same timing. */
  readonly random: Random;
  /** For how long it should go on; it ends a little later, with every process told to run again. */
  readonly seconds: number;
  /** True once `seconds` have passed, or where the run is being ended. */
  readonly over: () => boolean;
  /** Waits; less where the time is over. */
  readonly wait: (ms: number) => Promise<void>;
  readonly log: (line: string) => void;
  /** What was done, by name: `kills`, `pauses`, `dropped produce responses`. They go into the report. */
  readonly counters: Counters;
  /** What was measured. It goes into the report, and `check` looks at it. */
  readonly measures: Measures;
  /** The looks at the table so far, twice a second while ClickHouse answers. */
  readonly stored: readonly Stored[];
};

/** What goes wrong while a load runs. Every scenario ends in the same verdict (verdict.ts). */
export type Scenario = {
  /** In kebab-case, as `--scenario` takes it. */
  readonly name: string;
  /** One sentence for the report. */
  readonly about: string;
  /** Links that go through a proxy. Without them no proxy is in between. */
  readonly links?: readonly LinkName[];
  /** Needs a Kafka of three nodes; it has a cluster to itself. */
  readonly brokers?: 3;
  /** What these brokers are joined by, so that they can be separated: proxies, or cables between network namespaces, with a cluster to itself. */
  readonly brokersJoinedBy?: 'proxies' | 'cables';
  /** Needs a second set, of so many servers; it has a cluster to itself, and both sets must be equal in the end. */
  readonly shards?: 1 | 2;
  /** Needs processes that can be told to die at a point of the code (fault-points.ts). */
  readonly faultPoints?: true;
  /** Takes a protection away of its own, so no other fault may be around: it has a cluster to itself. */
  readonly alone?: true;
  /** Environment for processes of this cluster, beside what all get. */
  readonly env?: Readonly<Partial<Record<ProcessName, Readonly<Record<string, string>>>>>;
  /** Entries offered in a second; 2,000 without it. */
  readonly entriesPerSecond?: number;
  /** The shortest useful run, in seconds: what the end-to-end tests give it. */
  readonly sampleSeconds: number;
  run(context: ScenarioContext): Promise<void>;
  /** Why it cannot run on this machine; null where it can. */
  cannotRun?(): string | null;
  /** Does what must be done before the engines start in the folder; gives what takes it back. */
  prepare?(dataDir: string): () => void;
  /** Further lines of Kafka's settings. */
  readonly kafkaSettings?: Readonly<Record<string, string>>;
  /** Counts again, after the run, what this scenario is about; what must not be. */
  recount?(cluster: Cluster, measures: Measures): Promise<readonly Violation[]>;
  /** What more must hold of the load when this scenario ran alone; the verdict asks the same of every one. */
  check?(totals: LoadTotals, measures: Measures): readonly Violation[];
};
