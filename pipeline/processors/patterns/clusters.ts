import { NEW_PATTERN, type Alert } from '../../alerts/alert.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { patternRecords } from '../../counters/pattern-rows.ts';
import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import { ALERTING, Sensitivities, SENSITIVITY, sensitivityIn } from '../settings/sensitivity.ts';
import type { Merger } from '../merge/merger.ts';
import { alertOutputs } from '../merge/alert-outputs.ts';
import type { Position } from '../base/processor.ts';
import { mostOf, type Bounds } from '../base/bounds.ts';
import { NewPatterns } from './new-patterns.ts';
import { readSeen } from './patterns-partial.ts';
import { MOST_TENANT_BYTES, TenantClusters } from './tenant-clusters.ts';
import { readJson } from '../../core/read-json.ts';

const VERSION = 2;
const DAY_MS = 86_400_000;
/** Bytes of templates, and of alerts, that a partition remembers: they fit into a snapshot of 64 MiB. */
const [KIB, MIB] = [1024, 1024 * 1024];
const TEMPLATES: Bounds = { most: 36 * MIB, ofTenant: MOST_TENANT_BYTES, few: 64 * KIB, last: 40 * MIB };
const ALERTS: Bounds = { most: 8 * MIB, ofTenant: 2 * MIB, few: 64 * KIB, last: 10 * MIB };

/** What is known of a tenant. */
type Known = { readonly clusters: TenantClusters; readonly news: NewPatterns };
/** The tenants of a partition of `partials.v1`, and when the first of the alerts that fire is over: seconds. */
export type ClustersState = {
  readonly tenants: Map<number, Known>;
  endsAt: number;
  /** Bytes of the templates of all of them, about, and of their alerts, and the day (since 1970, by append time) on which they were forgotten last. */
  bytes: number;
  alertBytes: number;
  day: number;
  /** Whether new error templates are reported, as it was set by tenant; 0: for all. */
  readonly reported: Map<number, boolean>;
  /** How easily detectors fire, as it was set by tenant; 0: for all. */
  readonly sensitivities: Map<number, Sensitivities>;
};

/**
 * Finds the templates and clusters of the patterns that `patterns` reports, tenant by tenant. Publishes each with its template, an example,
 * its earliest entry and its cluster's root (docs/adr/0030-patterns.md). Error templates that were never seen before are alerts.
 */
export const clusters: Merger<ClustersState> = {
  name: 'clusters',
  of: 'patterns',
  init: newState,

  hears: [ALERTING],
  settings: { [NEW_PATTERN]: ['on', 'off'] },
  checkSetting: ({ value }) => (value === 'on' || value === 'off' ? null : `${NEW_PATTERN} is "on" or "off".`),
  configure({ reported, sensitivities }, { processor, key, tenantId, value }) {
    if (processor === ALERTING && key === SENSITIVITY) {
      if (value === null) sensitivities.delete(tenantId);
      else sensitivities.set(tenantId, new Sensitivities(value));
    }
    if (processor === ALERTING || key !== NEW_PATTERN) return;
    if (value === 'on' || value === 'off') reported.set(tenantId, value === 'on');
    else reported.delete(tenantId);
  },

  fold(state, input) {
    const ended = alertRecordsAt(state, input, end(state, input));
    if (input.kind === 'tick') return ended;
    const seen = readSeen(input.value);
    if (seen === null) return ended;
    const { tenantId, retentionDays, source, partition, offset: version } = input;
    const day = Math.floor(source.appendedAt / DAY_MS);
    forget(state, day);
    const known = knownOf(state, tenantId);
    known.clusters.retentionDays = retentionDays;
    const before = known.clusters.bytes;
    const patterns = known.clusters.take(seen, day, mostOf(before, state.bytes, TEMPLATES));
    state.bytes += known.clusters.bytes - before;
    const now = Math.floor(source.appendedAt / 1000);
    // a row with only a root has no entry
    const came = patterns.filter(({ example }) => example !== '');
    const isPublished = state.reported.get(tenantId) ?? state.reported.get(0) ?? true;
    const whose = { tenantId, retentionDays };
    const most = mostOf(known.news.bytes, state.alertBytes, ALERTS);
    const alerts = came.flatMap((pattern) => {
      const sensitivity = sensitivityIn(state.sensitivities, tenantId, NEW_PATTERN, pattern.stream);
      return known.news.take(pattern, pattern.isNew && isPublished, whose, now, sensitivity, most) ?? [];
    });
    if (alerts.length > 0) countAlerts(state);
    const shared = { tenantId, retentionDays, version, publishedAt: now };
    const rows = patterns.map((pattern) => ({ ...shared, ...pattern }));
    return [...ended, ...patternRecords(partition, rows), ...alertRecordsAt(state, input, alerts)];
  },

  join(state, input) {
    state.tenants.get(input.tenantId)?.news.join(input, Math.floor(input.appendedAt / 1000));
    return alertRecordsAt(state, input, end(state, input));
  },

  resolve(state, input) {
    const { alert, note, appendedAt } = input;
    if (alert.detector !== NEW_PATTERN) return [];
    const resolved = knownOf(state, alert.tenantId).news.resolve(alert, note, Math.floor(appendedAt / 1000));
    countAlerts(state);
    return resolved === null ? [] : alertRecordsAt(state, input, [resolved]);
  },

  snapshot({ tenants, day }) {
    const to = new ByteWriter();
    for (const number of [VERSION, day, tenants.size]) to.count(number);
    for (const [tenantId, known] of tenants) {
      to.count(tenantId);
      known.clusters.write(to);
      to.text(Buffer.from(JSON.stringify(known.news)).toString('latin1'));
    }
    return to.finish();
  },

  restore(bytes) {
    const from = new ByteReader(bytes);
    try {
      if (from.count() !== VERSION) return null;
      const state = newState();
      state.day = from.count();
      for (let left = from.count(0xffff_ffff); left > 0; left--) {
        const tenantId = from.count(0xffff_ffff);
        const own = TenantClusters.read(from);
        const news = NewPatterns.from(readJson(Buffer.from(from.text(), 'latin1').toString()));
        state.tenants.set(tenantId, { clusters: own, news });
        state.bytes += own.bytes;
      }
      countAlerts(state);
      return from.isAtEnd ? state : null;
    } catch (error) {
      if (error instanceof CutOff || error instanceof SyntaxError || error instanceof TypeError) return null;
      throw error;
    }
  },
};

function newState(): ClustersState {
  return { tenants: new Map(), endsAt: Infinity, bytes: 0, alertBytes: 0, day: 0, reported: new Map(), sensitivities: new Map() };
}

function knownOf({ tenants }: ClustersState, tenantId: number): Known {
  let known = tenants.get(tenantId);
  if (known === undefined) tenants.set(tenantId, (known = { clusters: new TenantClusters(), news: new NewPatterns() }));
  return known;
}

/** Forgets, once a day, the templates that do not come any more, and the tenants of whom nothing is left. */
function forget(state: ClustersState, day: number): void {
  if (day <= state.day) return;
  state.day = day;
  state.bytes = 0;
  for (const [tenantId, { clusters: own, news }] of state.tenants) {
    own.forget(day);
    if (own.size === 0 && news.endsAt === Infinity) state.tenants.delete(tenantId);
    else state.bytes += own.bytes;
  }
}

/** Counts what alerts take, and finds when the first one is over. */
function countAlerts(state: ClustersState): void {
  [state.endsAt, state.alertBytes] = [Infinity, 0];
  for (const { news } of state.tenants.values()) {
    state.endsAt = Math.min(state.endsAt, news.endsAt);
    state.alertBytes += news.bytes;
  }
}

/** The alerts that are over by now. */
function end(state: ClustersState, { appendedAt }: Position): Alert[] {
  const now = Math.floor(appendedAt / 1000);
  if (now < state.endsAt) return [];
  const ended = [...state.tenants.values()].flatMap(({ news }) => news.end(now));
  countAlerts(state);
  return ended;
}

/** The records of alerts at this place. */
const alertRecordsAt = ({ tenants }: ClustersState, at: Position, alerts: readonly Alert[]): AbsoluteRecord[] =>
  alertOutputs(at, alerts, (tenantId) => tenants.get(tenantId)?.news);
