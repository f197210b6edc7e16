import { NEW_PATTERN, RULE, type Alert } from '../../alerts/alert.ts';
import type { AbsoluteRecord } from '../../bus/absolute-record.ts';
import type { Merger } from '../merge/merger.ts';
import type { PartialInput } from '../merge/partial.ts';
import { alertOutputs } from '../merge/alert-outputs.ts';
import type { Position } from '../processor.ts';
import { readRates } from '../rates/rates-partial.ts';
import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import { whole } from '../slices.ts';
import type { Sensitivity } from '../../detectors/detector.ts';
import { ALERTING, EXAMPLES, Sensitivities, SENSITIVITY, sensitivityFault, sensitivityIn } from './sensitivity.ts';
import { MOST_ERROR_PATTERNS } from './error-patterns.ts';
import { TenantWatch, type SensitivityOf } from './tenant-watch.ts';

/** What a partition watches: up to `most` a tenant may have `ofTenant`, up to `last` it has `few` of its own, and beyond that what it has. */
type Bounds = { readonly most: number; readonly ofTenant: number; readonly few: number; readonly last: number };
/** What a stream and a pattern take in a snapshot, about, at most. */
const [STREAM_BYTES, PATTERN_BYTES] = [4096, 6144];
/** This is what a snapshot has room for. */
const STREAMS: Bounds = { most: 12_000, ofTenant: 10_000, few: 100, last: 13_000 };
const ERROR_PATTERNS: Bounds = { most: 2000, ofTenant: MOST_ERROR_PATTERNS, few: 10, last: 2200 };
/** The processor that tells of patterns. */
const PATTERNS = 'patterns';
const VERSION = 3;
/** Those of releases without error patterns, and without services. */
const SECOND_VERSION = 2;
const FIRST_VERSION = 1;
/** How often tenants are looked for that are gone, by append time. Milliseconds. */
const SWEEP_MS = 3_600_000;

/** The tenants of a partition of `partials.v1`. */
export type Watches = {
  readonly tenants: Map<number, TenantWatch>;
  /** Streams and services of all of them. */
  streams: number;
  /** Error patterns of all of them. */
  patterns: number;
  /** Up to when each partition of the log is counted, of whichever tenant: append times, milliseconds. */
  readonly counted: Map<number, number>;
  /** What was set, by tenant; 0: for all. */
  readonly sensitivities: Map<number, Sensitivities>;
};

/**
 * Watches the streams of tenants by what `rates` has counted of them, and their error patterns by what `patterns` has, and tells alerts
 * (docs/adr/0026-alerts.md, docs/adr/0030-patterns.md). What is found is a function of
 * the partials, in the order in which they lie on their topic.
 */
export const alerting: Merger<Watches> = {
  name: ALERTING,
  of: 'rates',
  alsoOf: [PATTERNS],
  init: newWatches,

  settings: { [SENSITIVITY]: EXAMPLES },
  checkSetting: ({ value }) => sensitivityFault(value),
  configure(state, { tenantId, value }) {
    if (value === null) state.sensitivities.delete(tenantId);
    else state.sensitivities.set(tenantId, new Sensitivities(value));
    for (const [id, watch] of state.tenants) if (tenantId === 0 || id === tenantId) watch.configure(sensitivityOf(state, id));
  },

  fold(state, input) {
    if (input.kind === 'tick') return [];
    const watch = watchOf(state, input.tenantId);
    const before = { streams: watch.size, patterns: watch.patterns };
    const found = take(state, watch, input);
    state.streams += watch.size - before.streams;
    state.patterns += watch.patterns - before.patterns;
    return found === null ? [] : recordsOf(state, input, [...found, ...sweep(state, input)]);
  },

  resolve(state, input) {
    const { alert, note, appendedAt } = input;
    if (alert.detector === RULE || alert.detector === NEW_PATTERN) return [];
    const resolved = watchOf(state, alert.tenantId).resolve(alert, note, appendedAt);
    return resolved === null ? [] : recordsOf(state, input, [resolved]);
  },

  hear(state, input) {
    const alert = state.tenants.get(input.tenantId)?.hear(input.tenantId, input, input.appendedAt) ?? null;
    return alert === null ? [] : recordsOf(state, input, [alert]);
  },

  join(state, input) {
    state.tenants.get(input.tenantId)?.join(input, input.appendedAt);
    return [];
  },

  snapshot: (state) => whole(slices(state)),
  slices,

  restore(bytes) {
    const from = new ByteReader(bytes);
    try {
      const version = from.count();
      if (version > VERSION || version < FIRST_VERSION) return null;
      const state = newWatches();
      const has = { hasServices: version >= SECOND_VERSION, hasPatterns: version >= VERSION };
      if (has.hasServices) for (let left = from.count(65_535); left > 0; left--) state.counted.set(from.count(65_535), from.count());
      for (let left = from.count(0xffff_ffff); left > 0; left--) {
        const tenantId = from.count(0xffff_ffff);
        const watch = TenantWatch.read(from, has);
        if (watch === null) return null;
        state.tenants.set(tenantId, watch);
        state.streams += watch.size;
        state.patterns += watch.patterns;
      }
      return from.isAtEnd ? state : null;
    } catch (error) {
      if (error instanceof CutOff || error instanceof SyntaxError || error instanceof TypeError) return null;
      throw error;
    }
  },
};

function* slices({ tenants, counted, streams, patterns }: Watches): Generator<undefined, Buffer> {
  // memory that is not written to is not taken
  const to = new ByteWriter(4096 + streams * STREAM_BYTES + patterns * PATTERN_BYTES);
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

/** Takes a partial; gives what was found, null of one that is none of `rates`. */
function take({ streams, patterns }: Watches, watch: TenantWatch, input: PartialInput): Alert[] | null {
  if (input.processor === PATTERNS) {
    watch.takePatterns(input, mostOf(watch.patterns, patterns, ERROR_PATTERNS));
    return null;
  }
  const rates = readRates(input.value);
  return rates === null ? null : watch.take(input, rates, mostOf(watch.size, streams, STREAMS));
}

/** How many a tenant may have that has `own` of `all`. */
function mostOf(own: number, all: number, { most, ofTenant, few, last }: Bounds): number {
  const [ofOne, end] = all < most ? [ofTenant, most] : [few, last];
  return Math.min(ofOne, own + Math.max(0, end - all));
}

function watchOf(state: Watches, tenantId: number): TenantWatch {
  let watch = state.tenants.get(tenantId);
  if (watch === undefined) {
    state.tenants.set(tenantId, (watch = new TenantWatch()));
    watch.configure(sensitivityOf(state, tenantId));
  }
  return watch;
}

/** Forgets the tenants that have had no entry for a day, each hour; what still fired of them, as it is told at its end. */
function sweep(state: Watches, { source: { partition, appendedAt } }: PartialInput): Alert[] {
  const { tenants, counted } = state;
  const before = counted.get(partition) ?? 0;
  counted.set(partition, Math.max(before, appendedAt));
  if (Math.floor(appendedAt / SWEEP_MS) <= Math.floor(before / SWEEP_MS)) return [];
  return [...tenants].flatMap(([tenantId, watch]) => {
    const ended = watch.leave((one) => counted.get(one) ?? 0, Math.floor(appendedAt / 1000));
    if (ended === null) return [];
    tenants.delete(tenantId);
    state.streams -= watch.size;
    state.patterns -= watch.patterns;
    return ended;
  });
}

function newWatches(): Watches {
  return { tenants: new Map(), streams: 0, patterns: 0, counted: new Map(), sensitivities: new Map() };
}

/** What was set for a tenant, else what was for all; null where nothing was. */
const sensitivityOf = ({ sensitivities }: Watches, tenantId: number): SensitivityOf | null =>
  sensitivities.has(tenantId) || sensitivities.has(0)
    ? (detector, stream): Sensitivity => sensitivityIn(sensitivities, tenantId, detector, stream)
    : null;

/** Alerts as they are told at this place. */
const recordsOf = ({ tenants }: Watches, at: Position, alerts: readonly Alert[]): AbsoluteRecord[] =>
  alertOutputs(at, alerts, (tenantId) => tenants.get(tenantId));
