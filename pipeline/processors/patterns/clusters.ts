import { patternRecords } from '../../counters/pattern-rows.ts';
import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import type { Merger } from '../merge/merger.ts';
import { readSeen } from './patterns-partial.ts';
import { MOST_TENANT_BYTES, TenantClusters } from './tenant-clusters.ts';

const VERSION = 1;
const DAY_MS = 86_400_000;
/** Bytes of templates that a partition remembers; beyond it a tenant has few of its own. */
const MOST_BYTES = 36 * 1024 * 1024;
const FEW_BYTES = 64 * 1024;

/** The tenants of a partition of `partials.v1`. */
export type ClustersState = { readonly tenants: Map<number, TenantClusters> };

/**
 * Finds the templates of the patterns that `patterns` tells of, and which are one cluster, tenant by tenant, and tells each with its text, an
 * example, its earliest entry and the root of its cluster (docs/adr/0030-patterns.md).
 */
export const clusters: Merger<ClustersState> = {
  name: 'clusters',
  of: 'patterns',
  init: () => ({ tenants: new Map() }),

  fold({ tenants }, input) {
    if (input.kind === 'tick') return [];
    const seen = readSeen(input.value);
    if (seen === null) return [];
    const { tenantId, retentionDays, source, partition, offset: version } = input;
    let own = tenants.get(tenantId);
    if (own === undefined) tenants.set(tenantId, (own = new TenantClusters()));
    const day = Math.floor(source.appendedAt / DAY_MS);
    own.forget(day, retentionDays);
    const all = [...tenants.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const told = own.take(seen, day, all < MOST_BYTES ? MOST_TENANT_BYTES : FEW_BYTES);
    if (own.size === 0) tenants.delete(tenantId);
    const shared = { tenantId, retentionDays, version, told: Math.floor(source.appendedAt / 1000) };
    return patternRecords(
      partition,
      told.map((pattern) => ({ ...shared, ...pattern })),
    );
  },

  snapshot({ tenants }) {
    const to = new ByteWriter();
    for (const number of [VERSION, tenants.size]) to.count(number);
    for (const [tenantId, own] of tenants) {
      to.count(tenantId);
      own.write(to);
    }
    return to.finish();
  },

  restore(bytes) {
    const from = new ByteReader(bytes);
    try {
      if (from.count() !== VERSION) return null;
      const state: ClustersState = { tenants: new Map() };
      for (let left = from.count(0xffff_ffff); left > 0; left--) state.tenants.set(from.count(0xffff_ffff), TenantClusters.read(from));
      return from.isAtEnd ? state : null;
    } catch (error) {
      if (error instanceof CutOff) return null;
      throw error;
    }
  },
};
