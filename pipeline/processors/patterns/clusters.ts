import { NEW_PATTERN } from '../../alerting/book/alert.ts';
import { type TenantCommands, commandRecords } from '../../alerting/book/command.ts';
import { FORMER_RESOLUTIONS, formerResolution } from '../../alerting/exchange/former-resolution.ts';
import { patternRecords, type PatternRow } from '../../counters/pattern-rows.ts';
import { ByteReader, ByteWriter, unlessDamaged } from '../../core/snapshot-bytes.ts';
import { ALERTING, Sensitivities, SENSITIVITY, sensitivityIn } from '../../alerting/settings/sensitivity.ts';
import type { Merger } from '../merge/merger.ts';
import type { Position } from '../base/position.ts';
import type { PartialInput } from '../base/partial.ts';
import { mostOf, type Bounds } from '../base/bounds.ts';
import { NewPatterns } from '../../alerting/patterns/new-patterns.ts';
import { readSeen } from './patterns-partial.ts';
import { MOST_TENANT_BYTES, TenantClusters } from './tenant-clusters.ts';
import { readJson } from '../../core/read-json.ts';

const CLUSTERS = 'clusters';
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
  /** Whether it was read: a release before may have kept alerts there. */
  hasCarried: boolean;
};

/**
 * Finds the templates and clusters of the patterns that `patterns` reports, tenant by tenant. Publishes each with its template, an example,
 * its earliest entry and its cluster's root (docs/adr/0030-patterns.md). Error templates that were never seen before are alerts.
 */
export const clusters: Merger<ClustersState> = {
  name: CLUSTERS,
  of: 'patterns',
  ofMergers: [FORMER_RESOLUTIONS],
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
    const told = [...carried(state), ...end(state, input)];
    const { rows, commands } = input.kind === 'tick' ? NOTHING : takeOne(state, input);
    return [...patternRecords(input.partition, rows), ...commandRecords(CLUSTERS, input, [...told, ...commands])];
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
    return unlessDamaged(() => {
      if (from.count() !== VERSION) return null;
      const state = newState();
      state.day = from.count();
      state.hasCarried = true;
      for (let left = from.count(0xffff_ffff); left > 0; left--) {
        const tenantId = from.count(0xffff_ffff);
        const own = TenantClusters.read(from);
        const news = NewPatterns.from(readJson(Buffer.from(from.text(), 'latin1').toString()));
        state.tenants.set(tenantId, { clusters: own, news });
        state.bytes += own.bytes;
      }
      countAlerts(state);
      return from.isAtEnd ? state : null;
    });
  },
};

type Found = { readonly rows: readonly PatternRow[]; readonly commands: readonly TenantCommands[] };
const NOTHING: Found = { rows: [], commands: [] };

/** What is to be published and reported after a partial. */
function takeOne(state: ClustersState, input: PartialInput): Found {
  const { tenantId, retentionDays, source, offset: version } = input;
  const whose = { tenantId, retentionDays };
  if (input.processor === FORMER_RESOLUTIONS) {
    const resolved = formerResolution(input, (detector) => detector === NEW_PATTERN);
    return resolved === null ? NOTHING : { rows: [], commands: [{ ...whose, commands: [resolved] }] };
  }
  const seen = readSeen(input.value);
  if (seen === null) return NOTHING;
  const day = Math.floor(source.appendedAt / DAY_MS);
  forget(state, day);
  const known = knownOf(state, tenantId);
  known.clusters.retentionDays = retentionDays;
  const before = known.clusters.bytes;
  const patterns = known.clusters.take(seen, day, mostOf(before, state.bytes, TEMPLATES));
  state.bytes += known.clusters.bytes - before;
  const now = Math.floor(source.appendedAt / 1000);
  const isPublished = state.reported.get(tenantId) ?? state.reported.get(0) ?? true;
  const most = mostOf(known.news.bytes, state.alertBytes, ALERTS);
  const commands = patterns.flatMap((pattern) => {
    // a row with only a root has no entry
    if (pattern.example === '') return [];
    const sensitivity = sensitivityIn(state.sensitivities, tenantId, NEW_PATTERN, pattern.stream);
    return known.news.take(pattern, pattern.isNew && isPublished, whose, now, sensitivity, most) ?? [];
  });
  if (commands.length > 0) countAlerts(state);
  const rows = patterns.map((pattern) => ({ ...whose, version, publishedAt: now, ...pattern }));
  return { rows, commands: [{ ...whose, commands }] };
}

/** What a release before kept with the clusters, once. */
function carried(state: ClustersState): TenantCommands[] {
  if (!state.hasCarried) return [];
  state.hasCarried = false;
  return [...state.tenants].map(
    ([
      tenantId,
      {
        clusters: { retentionDays },
        news,
      },
    ]) => ({ tenantId, retentionDays, commands: news.carried() }),
  );
}

function newState(): ClustersState {
  return {
    tenants: new Map(),
    endsAt: Infinity,
    bytes: 0,
    alertBytes: 0,
    day: 0,
    reported: new Map(),
    sensitivities: new Map(),
    hasCarried: false,
  };
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

/** What is over by now. */
function end(state: ClustersState, { appendedAt }: Position): TenantCommands[] {
  const now = Math.floor(appendedAt / 1000);
  if (now < state.endsAt) return [];
  const ended = [...state.tenants].map(
    ([
      tenantId,
      {
        clusters: { retentionDays },
        news,
      },
    ]) => ({ tenantId, retentionDays, commands: news.end(now) }),
  );
  countAlerts(state);
  return ended;
}
