import type { Processor } from '../base/processor.ts';
import { LogRows } from './log-rows.ts';
import { MOST_SETTINGS, RULES, rulesFold, ruleSettingFault, ruleSettings, type RulesState } from './rules-fold.ts';

const rows = new LogRows();

/**
 * Evaluates the rules of tenants over their entries (docs/rules.md), by windows of the entries' own time. Each ten seconds of append time
 * it reports what came since, as increments, in partials that `rule-alerts` takes once each.
 */
export const rules: Processor<RulesState> = {
  name: RULES,
  settings: ruleSettings(),
  mostSettings: MOST_SETTINGS,
  checkSetting: (setting, detectors) => ruleSettingFault(setting, detectors),
  ...rulesFold({
    signal: 'logs',
    read: ({ columns, ...batch }) => (columns === null || columns.count === 0 ? null : rows.read({ ...batch, columns })),
  }),
};
