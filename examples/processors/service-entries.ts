/** Counts the entries of each service by the hour in which they arrived, as the measure `entries`. */
import { entries, jsonPartials, jsonState, partialRows, type ProcessorFile, type Measure } from 'logweir/processor';

const HOUR = 3600;
/** An hour is closed this long behind the newest one, seconds; further services of a tenant and hour are counted together. */
const [KEPT, MOST_SERVICES] = [48 * HOUR, 1000];
type Counts = Map<string, number>;
const add = (counts: Counts, name: string, more: number): number => counts.set(name, (counts.get(name) ?? 0) + more).get(name) ?? 0;

export default {
  // in each partition of the log: how many entries of which service a record has
  processor: {
    name: 'service-entries',
    ...jsonState(() => ({})),
    fold(_state, input) {
      const counts: Counts = new Map();
      for (const { service } of entries(input)) add(counts, service, 1);
      return input.kind === 'batch' ? jsonPartials(input, counts) : [];
    },
  },
  // what all partitions have found of a tenant
  merger: {
    name: 'service-entries-merged',
    of: 'service-entries',
    ...jsonState(() => ({ hours: new Map<number, Map<number, Counts>>() })),
    fold({ hours }, input) {
      if (input.kind === 'tick') return [];
      const { tenantId, retentionDays } = input;
      const time = Math.floor(input.source.appendedAt / 1000 / HOUR) * HOUR;
      const closed = Math.max(time, ...hours.keys()) - KEPT;
      for (const hour of hours.keys()) if (hour <= closed) hours.delete(hour);
      if (time <= closed) return [];
      const tenants = hours.get(time) ?? new Map<number, Counts>();
      const counts = tenants.get(tenantId) ?? new Map<string, number>();
      hours.set(time, tenants.set(tenantId, counts));
      return (partialRows(input) as readonly [string, number][]).map(([name, count]): Measure => {
        const service = counts.has(name) || counts.size < MOST_SERVICES ? name : '(others)';
        const value = add(counts, service, count);
        return { kind: 'measure', tenantId, retentionDays, name: 'entries', labels: { service }, span: HOUR, time, value };
      });
    },
  },
} satisfies ProcessorFile<object, { hours: Map<number, Map<number, Counts>> }>;
