import { alertRow, NEW_PATTERN, RULE, type Alert } from '../../alerts/alert.ts';
import { alertRecords } from '../../alerts/alerts-signal.ts';
import type { AbsoluteRecord } from '../../bus/absolute-record.ts';
import type { Merger } from '../merge/merger.ts';
import type { PartialInput } from '../merge/partial.ts';
import type { Position } from '../processor.ts';
import { readRates } from '../rates/rates-partial.ts';
import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import { EXAMPLES, Sensitivities, SENSITIVITY, sensitivityFault } from './sensitivity.ts';
import { TenantWatch, type SensitivityOf } from './tenant-watch.ts';

/** Streams that a partition watches; beyond it a tenant has few of its own. At 4 KiB each this is what a snapshot has room for. */
const MOST_STREAMS = 12_000;
const MOST_OF_TENANT = 10_000;
const FEW_STREAMS = 100;
const VERSION = 2;
/** That of a release without services. */
const FIRST_VERSION = 1;
/** How often tenants are looked for that are gone, by append time. Milliseconds. */
const SWEEP_MS = 3_600_000;

/** The tenants of a partition of `partials.v1`. */
export type Watches = {
  readonly tenants: Map<number, TenantWatch>;
  /** Streams and services of all of them. */
  streams: number;
  /** Up to when each partition of the log is counted, of whichever tenant: append times, milliseconds. */
  readonly counted: Map<number, number>;
  /** What was set, by tenant; 0: for all. */
  readonly sensitivities: Map<number, Sensitivities>;
};

/**
 * Watches the streams of tenants by what `rates` has counted of them, and tells alerts (docs/adr/0026-alerts.md). What is found is a function of
 * the partials, in the order in which they lie on their topic.
 */
export const alerting: Merger<Watches> = {
  name: 'alerting',
  of: 'rates',
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
    const rates = readRates(input.value);
    if (rates === null) return [];
    const { tenantId } = input;
    const watch = watchOf(state, tenantId);
    const before = watch.size;
    const found = watch.take(input, rates, state.streams < MOST_STREAMS ? MOST_OF_TENANT : FEW_STREAMS);
    state.streams += watch.size - before;
    return recordsOf(input, [...found, ...sweep(state, input)]);
  },

  resolve(state, input) {
    const { alert, note, appendedAt } = input;
    if (alert.detector === RULE || alert.detector === NEW_PATTERN) return [];
    const resolved = watchOf(state, alert.tenantId).resolve(alert, note, appendedAt);
    return resolved === null ? [] : recordsOf(input, [resolved]);
  },

  hear(state, input) {
    const alert = state.tenants.get(input.tenantId)?.hear(input.tenantId, input, input.appendedAt) ?? null;
    return alert === null ? [] : recordsOf(input, [alert]);
  },

  snapshot({ tenants, counted }) {
    const to = new ByteWriter();
    to.count(VERSION);
    to.count(counted.size);
    for (const [partition, through] of counted) for (const number of [partition, through]) to.count(number);
    to.count(tenants.size);
    for (const [tenantId, watch] of tenants) {
      to.count(tenantId);
      watch.write(to);
    }
    return to.finish();
  },

  restore(bytes) {
    const from = new ByteReader(bytes);
    try {
      const version = from.count();
      if (version !== VERSION && version !== FIRST_VERSION) return null;
      const state = newWatches();
      if (version === VERSION) for (let left = from.count(65_535); left > 0; left--) state.counted.set(from.count(65_535), from.count());
      for (let left = from.count(0xffff_ffff); left > 0; left--) {
        const tenantId = from.count(0xffff_ffff);
        const watch = TenantWatch.read(from, version === VERSION);
        if (watch === null) return null;
        state.tenants.set(tenantId, watch);
        state.streams += watch.size;
      }
      return from.isAtEnd ? state : null;
    } catch (error) {
      if (error instanceof CutOff || error instanceof SyntaxError || error instanceof TypeError) return null;
      throw error;
    }
  },
};

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
    return ended;
  });
}

function newWatches(): Watches {
  return { tenants: new Map(), streams: 0, counted: new Map(), sensitivities: new Map() };
}

/** What was set for a tenant, else what was for all; null where nothing was. */
function sensitivityOf({ sensitivities }: Watches, tenantId: number): SensitivityOf | null {
  const [own, all] = [sensitivities.get(tenantId), sensitivities.get(0)];
  if (own === undefined && all === undefined) return null;
  return (detector, stream) => own?.of(detector, stream) ?? all?.of(detector, stream) ?? 'normal';
}

/** Alerts as they are told at this place. */
const recordsOf = ({ partition, offset }: Position, alerts: readonly Alert[]): AbsoluteRecord[] =>
  alertRecords(
    partition,
    alerts.map((alert) => alertRow(alert, offset)),
  );
