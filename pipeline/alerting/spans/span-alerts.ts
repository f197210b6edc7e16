import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import { mostOf, type Bounds } from '../../processors/base/bounds.ts';
import type { Merger } from '../../processors/merge/merger.ts';
import { SPAN_RATES } from '../../processors/spans/span-rates.ts';
import { commandRecords } from '../book/command.ts';
import { ALERTING, Sensitivities, SENSITIVITY, sensitivityIn } from '../settings/sensitivity.ts';
import { SpanWatch } from './span-watch.ts';

const NAME = 'span-alerts';
const VERSION = 1;
const KIB = 1024;
/** Services and operations that are watched in a partition; each takes some 9 KiB of a snapshot. */
const WATCHED: Bounds = { most: 4000, ofTenant: 2000, few: 50, last: 5000 };
/** Bytes of alerts of the last hour. */
const ALERTS: Bounds = { most: 4096 * KIB, ofTenant: 2048 * KIB, few: 60 * KIB, last: 5120 * KIB };

/** The tenants of a partition of `partials.v1`. */
export type SpanWatches = { readonly tenants: Map<number, SpanWatch>; readonly sensitivities: Map<number, Sensitivities> };

/**
 * Watches requests, errors and durations of services and operations by what `span-rates` has counted of them, and reports to the book of alerts
 * (docs/detection.md). What is found is a function of the partials, in the order in which they lie on their topic.
 */
export const spanAlerts: Merger<SpanWatches> = {
  name: NAME,
  of: SPAN_RATES,
  // how easily detectors fire is set for all of them together
  hears: [ALERTING],
  init: () => ({ tenants: new Map(), sensitivities: new Map() }),
  configure({ tenants, sensitivities }, { processor, key, tenantId, value }) {
    if (processor !== ALERTING || key !== SENSITIVITY) return;
    if (value === null) sensitivities.delete(tenantId);
    else sensitivities.set(tenantId, new Sensitivities(value));
    for (const [id, watch] of tenants) hear(sensitivities, id, watch);
  },

  fold({ tenants, sensitivities }, input) {
    if (input.kind === 'tick') return [];
    const { tenantId, retentionDays } = input;
    let watch = tenants.get(tenantId);
    if (watch === undefined) {
      tenants.set(tenantId, (watch = new SpanWatch()));
      hear(sensitivities, tenantId, watch);
    }
    let [all, bytes] = [0, 0];
    for (const one of tenants.values()) [all, bytes] = [all + one.size, bytes + one.alertBytes];
    const commands = watch.take(input, mostOf(watch.size, all, WATCHED), mostOf(watch.alertBytes, bytes, ALERTS));
    if (watch.isOver(input.source.appendedAt)) tenants.delete(tenantId);
    return commands.length === 0 ? [] : commandRecords(NAME, input, [{ tenantId, retentionDays, commands }]);
  },

  snapshot({ tenants }) {
    const to = new ByteWriter();
    for (const number of [VERSION, tenants.size]) to.count(number);
    for (const [tenantId, watch] of tenants) {
      to.count(tenantId);
      watch.write(to);
    }
    return to.finish();
  },

  restore(bytes) {
    const from = new ByteReader(bytes);
    try {
      if (from.count() !== VERSION) return null;
      const state: SpanWatches = { tenants: new Map(), sensitivities: new Map() };
      for (let left = from.count(0xffff_ffff); left > 0; left--) state.tenants.set(from.count(0xffff_ffff), SpanWatch.read(from));
      return from.isAtEnd ? state : null;
    } catch (error) {
      if (error instanceof CutOff || error instanceof SyntaxError || error instanceof TypeError) return null;
      throw error;
    }
  },
};

function hear(sensitivities: ReadonlyMap<number, Sensitivities>, tenantId: number, watch: SpanWatch): void {
  watch.sensitivityOf = (detector, stream) => sensitivityIn(sensitivities, tenantId, detector, stream);
}
