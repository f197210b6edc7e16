import type { Logger } from 'pino';
import type { Intake, RowWriter } from '../pipeline/intake/rows.ts';
import { alertsSignal } from '../pipeline/alerting/book/alert.ts';
import type { Signal } from '../pipeline/bus/records/signal.ts';
import { defaultExport } from '../pipeline/core/default-export.ts';
import { registry, type Registry } from '../pipeline/core/registry.ts';
import { countersSignal } from '../pipeline/counters/counters-signal.ts';
import { measuresSignal } from '../pipeline/counters/measures-signal.ts';
import { metricRuleStatesSignal } from '../pipeline/counters/metric-rule-states.ts';
import { patternCountsSignal } from '../pipeline/counters/pattern-counts.ts';
import { patternsSignal } from '../pipeline/counters/pattern-rows.ts';
import { spanCountsSignal } from '../pipeline/counters/span-counts.ts';
import { createLogsIntake } from '../pipeline/logs/logs-intake.ts';
import { logsSignal } from '../pipeline/logs/logs-signal.ts';
import { spansSignal } from '../pipeline/traces/spans-signal.ts';
import { createSpansIntake } from '../pipeline/traces/spans-writer.ts';
import { createSamplesIntake } from '../pipeline/samples/samples-writer.ts';
import { samplesSignal } from '../pipeline/samples/samples-signal.ts';
import { createReplayIntake } from '../pipeline/replay/replay-writer.ts';
import { replaySignal } from '../pipeline/replay/replay-signal.ts';
import { SessionBounds } from '../pipeline/replay/session-bounds.ts';
import { normalizers, replayNormalizers, sampleNormalizers, spanNormalizers } from '../pipeline/normalizers/index.ts';
import type { Normalizer } from '../pipeline/normalizers/normalizer.ts';
import type { Store } from '../pipeline/store/client.ts';
import { migrate } from '../pipeline/store/migrations.ts';
import { alertsSink } from '../sinks/alerts.ts';
import { createLogsSink } from '../sinks/logs.ts';
import { measuresSink } from '../sinks/measures.ts';
import { metricRuleStatesSink } from '../sinks/metric-rule-states.ts';
import { patternCountsSink } from '../sinks/pattern-counts.ts';
import { patternsSink } from '../sinks/patterns.ts';
import { replayChunksSink } from '../sinks/replay-chunks.ts';
import { storedSizes } from '../sinks/session-sizes.ts';
import { spanCountsSink } from '../sinks/span-counts.ts';
import { createSamplesSink } from '../sinks/samples.ts';
import { spansSink } from '../sinks/spans.ts';
import type { Sink } from '../sinks/sink.ts';
import type { ColdTier } from '../pipeline/core/config-cold.ts';
import { moveOldRows } from '../pipeline/store/cold-tier.ts';
import { volumeSink } from '../sinks/volume.ts';

/** What an intake may look at beside its requests: every shard of every set, which may be away. */
export type IntakeSources = { readonly stores: readonly Pick<Store, 'ownerRows'>[]; readonly log: Logger };

/** How tenants send a signal. */
export type SignalSource = {
  /** How requests become its rows, and what its limits count. Called once in a process. */
  readonly open: (sources: IntakeSources) => Intake;
  /** The wire formats whose rows it is. */
  readonly normalizers: readonly Normalizer<RowWriter>[];
  /** Who counts its billable bytes: names the topic of their state, `state.<usage>.v1`. */
  readonly usage: string;
};

/** A kind of records, all that is done with it alike: from here it is sent, limited, billed, stored, audited, replayed and watched. */
export type StoredSignal = {
  /** Its topic, what its records are, and when their rows end. */
  readonly signal: Signal;
  /** The tables that are filled from it. */
  readonly sinks: readonly Sink[];
  /** Null where processors make it. */
  readonly source: SignalSource | null;
  /** Statements that make its tables, each safe to repeat; the service's own are made by `pipeline/store/schema`. */
  readonly schema?: readonly string[];
};

function openReplay({ stores, log }: IntakeSources): Intake {
  const onFault = (err: unknown): void => {
    log.warn({ err }, 'What is stored of sessions cannot be looked up: until then they count from what this process has taken.');
  };
  return createReplayIntake(new SessionBounds(storedSizes(stores), onFault));
}

/** Every signal. Adding one: a folder with its rows, intake, formats and sinks, and a line here (docs/extending/signals.md). */
export const signals: Registry<StoredSignal> = registry<StoredSignal>(
  ({ signal }) => [signal.name],
  [
    { signal: logsSignal, sinks: [createLogsSink()], source: { open: createLogsIntake, normalizers: normalizers.members, usage: 'usage' } },
    {
      signal: spansSignal,
      sinks: [spansSink],
      source: { open: createSpansIntake, normalizers: spanNormalizers.members, usage: 'usage-spans' },
    },
    { signal: spanCountsSignal, sinks: [spanCountsSink], source: null },
    {
      signal: samplesSignal,
      sinks: [createSamplesSink()],
      source: { open: createSamplesIntake, normalizers: sampleNormalizers.members, usage: 'usage-samples' },
    },
    {
      signal: replaySignal,
      sinks: [replayChunksSink],
      source: { open: openReplay, normalizers: replayNormalizers.members, usage: 'usage-replay' },
    },
    { signal: countersSignal, sinks: [volumeSink], source: null },
    { signal: measuresSignal, sinks: [measuresSink], source: null },
    { signal: metricRuleStatesSignal, sinks: [metricRuleStatesSink], source: null },
    { signal: alertsSignal, sinks: [alertsSink], source: null },
    { signal: patternCountsSignal, sinks: [patternCountsSink], source: null },
    { signal: patternsSignal, sinks: [patternsSink], source: null },
  ],
);

/** A signal that tenants send. */
export type SentSignal = StoredSignal & { readonly source: SignalSource };

/** Those that tenants send, in their order. */
export const sentSignals = (all: readonly StoredSignal[]): readonly SentSignal[] =>
  all.filter((signal): signal is SentSignal => signal.source !== null);

/** The tables of all signals, in their order. */
export const sinksOf = (all: readonly StoredSignal[]): readonly Sink[] => all.flatMap(({ sinks }) => sinks);

/**
 * Every signal of the service and of these files (`LOGWEIR_SIGNALS`), in JavaScript or TypeScript. Throws an Error with a sentence that names
 * the file where one cannot be loaded, or exports no signal, or one whose name, topic, path or table is taken.
 */
export async function signalsWith(files: readonly string[]): Promise<readonly StoredSignal[]> {
  const all = [...signals.members];
  for (const file of files) {
    const found = await defaultExport(file, 'signal');
    const fault = signalFault(found, all);
    if (fault !== null) throw new Error(`The signal ${file} cannot be used: ${fault}`);
    all.push(found as StoredSignal);
  }
  return all;
}

/** Makes the database of a store and the tables of all signals, as far as they are not there: safe to repeat, and at once from several nodes. `cold`: when old rows move. */
export async function makeTables(store: Store, all: readonly StoredSignal[], cold: ColdTier | null): Promise<void> {
  await migrate(store);
  for (const { schema = [] } of all) for (const statement of schema) await store.command(statement);
  if (cold !== null) await moveOldRows(store, cold);
}

function signalFault(found: unknown, all: readonly StoredSignal[]): string | null {
  const { signal, sinks, source } = (typeof found === 'object' && found !== null ? found : {}) as Partial<StoredSignal>;
  if (signal === undefined || !Array.isArray(sinks) || source === undefined)
    return 'Its default export must be an object with the members "signal", "sinks" and "source".';
  const namesOf = (one: StoredSignal): string[] => [
    `name ${one.signal.name}`,
    `topic ${one.signal.topic.name}`,
    ...one.sinks.map(({ table }) => `table ${table}`),
    ...(one.source === null
      ? []
      : [`usage ${one.source.usage}`, ...one.source.normalizers.flatMap(({ paths }) => paths.map((path) => `path ${path}`))]),
  ];
  const taken = new Set(all.flatMap(namesOf));
  const twice = namesOf(found as StoredSignal).find((name) => taken.has(name));
  return twice === undefined ? null : `Its ${twice} is taken.`;
}
