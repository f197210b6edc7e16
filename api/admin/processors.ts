import type { WatchedProcessor } from '../../pipeline/core/metrics.ts';
import type { AdminRoute } from './admin-routes.ts';
import type { Peers } from './peers.ts';

/** Looks at what the processors of this process are doing; none where it hosts none. */
export type ProcessorLook = () => readonly WatchedProcessor[];

/** A processor in a partition, as operators see it. */
type ProcessorPlace = {
  readonly processor: string;
  readonly partition: number;
  readonly process: string;
  /** The offset that it takes next, and how many records the log has from there on. */
  readonly next: number;
  readonly lag: number;
  /** The offset of its last snapshot, that snapshot's bytes, and its age in seconds; null where there is none of this process. */
  readonly snapshot: number;
  readonly snapshot_bytes: number;
  readonly snapshot_age: number;
  /** Why it is halted. */
  readonly halted: string | null;
};

/** `GET /admin/processors`: what runs where, at which offset, in all processes of this instance; with `?self=1` in this process alone. */
export function processorsRoute({ role, look, peers }: { role: string; look: ProcessorLook; peers?: Peers }): AdminRoute {
  return {
    method: 'GET',
    path: '/admin/processors',
    handle: async ({ query }) => {
      const own = look().map((one) => placeOf(role, one));
      const others = query.has('self') ? [] : ((await peers?.query('/admin/processors?self=1')) ?? []);
      const all = [...own, ...others.flatMap(({ body }) => (Array.isArray(body) ? (body as ProcessorPlace[]) : []))];
      return {
        status: 200,
        body: all.sort((a, b) => (a.processor < b.processor ? -1 : a.processor > b.processor ? 1 : a.partition - b.partition)),
      };
    },
  };
}

const placeOf = (
  process: string,
  { processor, partition, next, lag, saved, savedAt, stateBytes, halted }: WatchedProcessor,
): ProcessorPlace => ({
  ...{ processor, partition, process, next, lag },
  ...{ snapshot: saved, snapshot_bytes: stateBytes, snapshot_age: Math.round((performance.now() - savedAt) / 1000), halted },
});
