import { NEW_PATTERN, RULE } from '../book/alert.ts';
import { type AlertCommand, type TenantCommands, commandRecords } from '../book/command.ts';
import { FORMER_RESOLUTIONS, formerResolution } from '../exchange/former-resolution.ts';
import type { Merger } from '../../processors/merge/merger.ts';
import type { PartialInput } from '../../processors/base/partial.ts';
import { readRates } from '../../processors/rates/rates.ts';
import { ByteReader, ByteWriter, unlessDamaged } from '../../core/snapshot-bytes.ts';
import { whole } from '../../processors/base/slices.ts';
import type { Sensitivity } from '../../detectors/detector.ts';
import {
  ALERTING,
  EXAMPLES,
  Sensitivities,
  SENSITIVITY,
  sensitivityFault,
  sensitivityIn,
  type SensitivityOf,
} from '../settings/sensitivity.ts';
import { mostOf, type Bounds } from '../../processors/base/bounds.ts';
import { readFinding } from '../exchange/finding.ts';
import { CUSTOM_DETECTORS } from '../settings/switch.ts';
import { TenantWatch, type Held } from './tenant-watch.ts';

const [KIB, MIB] = [1024, 1024 * 1024];
/** What a partition holds, in bytes: a snapshot of 64 MiB fits all. 10,000 streams of a tenant fit with label sets of 300 bytes. */
const BOUNDS: Readonly<Record<keyof Held, Bounds>> = {
  watched: { most: 44 * MIB, ofTenant: 42 * MIB, few: 440 * KIB, last: 48 * MIB },
  patterns: { most: 6 * MIB, ofTenant: 1.2 * MIB, few: 60 * KIB, last: 6.5 * MIB },
  alerts: { most: 5 * MIB, ofTenant: 3 * MIB, few: 120 * KIB, last: 6.5 * MIB },
};
/** The processor that publishes patterns. */
const PATTERNS = 'patterns';
const VERSION = 4;
/** Those of releases with alerts, without error patterns, and without services. */
const THIRD_VERSION = 3;
const SECOND_VERSION = 2;
const FIRST_VERSION = 1;
/** How often tenants without entries are looked for, by append time. Milliseconds. */
const SWEEP_MS = 3_600_000;

/** The tenants of a partition of `partials.v1`. */
export type Watches = {
  readonly tenants: Map<number, TenantWatch>;
  /** What all of them hold. */
  held: Held;
  /** Up to when each partition of the log is counted, of whichever tenant: append times, milliseconds. */
  readonly counted: Map<number, number>;
  /** What was set, by tenant; 0: for all. */
  readonly sensitivities: Map<number, Sensitivities>;
  /** Whether it was read of what a release before wrote, which kept alerts. */
  hasCarried: boolean;
};

/**
 * Watches the streams of tenants by what `rates` has counted of them, and their error patterns by what `patterns` has, and reports
 * to the book of alerts (docs/adr/0038-alerting.md, docs/adr/0030-patterns.md). What is found is a function of
 * the partials, in the order in which they lie on their topic.
 */
export const alerting: Merger<Watches> = {
  name: ALERTING,
  of: 'rates',
  alsoOf: [PATTERNS],
  ofMergers: [CUSTOM_DETECTORS, FORMER_RESOLUTIONS],
  init: newWatches,

  settings: { [SENSITIVITY]: EXAMPLES },
  checkSetting: ({ value }, detectors) => sensitivityFault(value, detectors),
  configure(state, { tenantId, value }) {
    if (value === null) state.sensitivities.delete(tenantId);
    else state.sensitivities.set(tenantId, new Sensitivities(value));
    for (const [id, watch] of state.tenants) if (tenantId === 0 || id === tenantId) watch.configure(sensitivityOf(state, id));
  },

  fold(state, input) {
    const told = [...carried(state), ...(input.kind === 'tick' ? [] : takeOne(state, input))];
    return told.length === 0 ? [] : commandRecords(ALERTING, input, told);
  },

  snapshot: (state) => whole(slices(state)),
  slices,

  restore(bytes) {
    const from = new ByteReader(bytes);
    return unlessDamaged(() => {
      const version = from.count();
      if (version > VERSION || version < FIRST_VERSION) return null;
      const state = newWatches();
      const has = { hasServices: version >= SECOND_VERSION, hasPatterns: version >= THIRD_VERSION };
      state.hasCarried = version <= THIRD_VERSION;
      if (has.hasServices) for (let left = from.count(65_535); left > 0; left--) state.counted.set(from.count(65_535), from.count());
      for (let left = from.count(0xffff_ffff); left > 0; left--) {
        const tenantId = from.count(0xffff_ffff);
        const watch = TenantWatch.read(from, has);
        if (watch === null) return null;
        state.tenants.set(tenantId, watch);
        state.held = sum(state.held, watch.held);
      }
      return from.isAtEnd ? state : null;
    });
  },
};

function* slices({ tenants, counted, held }: Watches): Generator<undefined, Buffer> {
  // memory that is not written to is not taken
  const to = new ByteWriter(4096 + held.watched + held.patterns + held.alerts);
  to.count(VERSION);
  to.count(counted.size);
  for (const [partition, through] of counted) for (const number of [partition, through]) to.count(number);
  to.count(tenants.size);
  for (const [tenantId, watch] of tenants) {
    to.count(tenantId);
    yield* watch.write(to);
  }
  return to.finish();
}

/** What is to be reported after a partial. */
function takeOne(state: Watches, input: PartialInput): TenantCommands[] {
  const { tenantId, processor } = input;
  if (processor === FORMER_RESOLUTIONS) {
    const resolved = formerResolution(input, (detector) => detector !== RULE && detector !== NEW_PATTERN);
    return resolved === null ? [] : [{ tenantId, retentionDays: input.retentionDays, commands: [resolved] }];
  }
  if (processor === CUSTOM_DETECTORS) return heard(state, input);
  const watch = watchOf(state, tenantId);
  const found = measured(state, watch, () => take(state, watch, input));
  return found === null ? [] : [commandsOf(tenantId, watch, found), ...sweep(state, input)];
}

const commandsOf = (tenantId: number, { retentionDays }: TenantWatch, commands: readonly AlertCommand[]): TenantCommands => ({
  ...{ tenantId, retentionDays, commands },
});

/** What is to be reported of what a detector of others has found of a stream. */
function heard(state: Watches, input: PartialInput): TenantCommands[] {
  const watch = state.tenants.get(input.tenantId);
  const found = readFinding(input.value);
  if (watch === undefined || found === null) return [];
  const command = measured(state, watch, () => watch.hear(input.tenantId, found, input.appendedAt, most(state, watch)));
  return command === null ? [] : [commandsOf(input.tenantId, watch, [command])];
}

/** What a release before kept with the streams, once. */
function carried(state: Watches): TenantCommands[] {
  if (!state.hasCarried) return [];
  state.hasCarried = false;
  return [...state.tenants].map(([tenantId, watch]) => commandsOf(tenantId, watch, watch.carried()));
}

/** Takes a partial; gives what was found, null of one that is none of `rates`. */
function take(state: Watches, watch: TenantWatch, input: PartialInput): AlertCommand[] | null {
  if (input.processor === PATTERNS) {
    watch.takePatterns(input, most(state, watch));
    return null;
  }
  const rates = readRates(input.value);
  return rates === null ? null : watch.take(input, rates, most(state, watch));
}

/** How much a tenant may have. */
function most({ held: all }: Watches, { held: own }: TenantWatch): Held {
  const of = (kind: keyof Held): number => mostOf(own[kind], all[kind], BOUNDS[kind]);
  return { watched: of('watched'), patterns: of('patterns'), alerts: of('alerts') };
}

/** Does something with a tenant, and counts what it holds then. */
function measured<Result>(state: Watches, watch: TenantWatch, act: () => Result): Result {
  const before = watch.held;
  const result = act();
  state.held = sum(state.held, watch.held, before);
  return result;
}

/** What all hold, with that of a tenant, and without what it held before. */
const sum = (all: Held, own: Held, before: Held = NOTHING): Held => ({
  watched: all.watched + own.watched - before.watched,
  patterns: all.patterns + own.patterns - before.patterns,
  alerts: all.alerts + own.alerts - before.alerts,
});
const NOTHING: Held = { watched: 0, patterns: 0, alerts: 0 };

function watchOf(state: Watches, tenantId: number): TenantWatch {
  let watch = state.tenants.get(tenantId);
  if (watch === undefined) {
    state.tenants.set(tenantId, (watch = new TenantWatch()));
    watch.configure(sensitivityOf(state, tenantId));
  }
  return watch;
}

/** Forgets the tenants that have had no entry for a day, each hour; returns the ends of what still fired. */
function sweep(state: Watches, { source: { partition, appendedAt } }: PartialInput): TenantCommands[] {
  const { tenants, counted } = state;
  const known = counted.get(partition) ?? 0;
  counted.set(partition, Math.max(known, appendedAt));
  if (Math.floor(appendedAt / SWEEP_MS) <= Math.floor(known / SWEEP_MS)) return [];
  return [...tenants].flatMap(([tenantId, watch]) => {
    const before = watch.held;
    const ended = watch.leave((one) => counted.get(one) ?? 0, Math.floor(appendedAt / 1000));
    if (ended === null) {
      state.held = sum(state.held, watch.held, before);
      return [];
    }
    tenants.delete(tenantId);
    state.held = sum(state.held, NOTHING, before);
    return [commandsOf(tenantId, watch, ended)];
  });
}

function newWatches(): Watches {
  return { tenants: new Map(), held: NOTHING, counted: new Map(), sensitivities: new Map(), hasCarried: false };
}

/** What was set for a tenant, else what was for all; null where nothing was. */
const sensitivityOf = ({ sensitivities }: Watches, tenantId: number): SensitivityOf | null =>
  sensitivities.has(tenantId) || sensitivities.has(0)
    ? (detector, stream): Sensitivity => sensitivityIn(sensitivities, tenantId, detector, stream)
    : null;
