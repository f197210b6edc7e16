import { unlessDamaged } from '../../core/snapshot-bytes.ts';
import type { Merger } from '../../processors/merge/merger.ts';
import { readRates } from '../../processors/rates/rates.ts';
import { readValues, RULE_ALERTS } from '../exchange/rule-values.ts';
import { CustomState } from './custom-state.ts';
import type { DetectorRunner } from './detector-runner.ts';
import { detectorSwitches } from '../settings/switch.ts';

/**
 * Runs detectors of others on the streams of tenants, minute by minute, and on the values of rules. Puts their findings on `partials.v1`
 * for `alerting` and `rule-alerts` (ADR 29, ADR 33 in docs/adr/): alerts follow from the findings there, not from when a detector ran.
 */
export const createCustomDetectors = (runner: DetectorRunner): Merger<CustomState> => ({
  ...detectorSwitches(runner.detectors.map(({ name }) => name)),
  of: 'rates',
  ofMergers: [RULE_ALERTS],
  init: () => new CustomState(runner),

  configure(state, setting) {
    state.configure(setting);
  },

  fold(state, input) {
    state.pass(input.appendedAt);
    if (input.kind === 'tick') return [];
    if (input.processor === RULE_ALERTS) {
      const values = readValues(input.value);
      if (values !== null) state.watch(input, values);
      return [];
    }
    const rates = readRates(input.value);
    if (rates !== null) state.take(input, rates);
    return [];
  },

  news: (state) => state.news(),
  isBehind: (state) => state.isBehind,
  snapshot: (state) => state.write(),
  restore(bytes) {
    return unlessDamaged(() => {
      return CustomState.read(bytes, runner);
    });
  },
});
