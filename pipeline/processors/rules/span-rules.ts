import type { SpanProcessor } from '../spans/span-input.ts';
import { MOST_SETTINGS, RULES, rulesFold, type RulesState } from './rules-fold.ts';
import { SpanRows } from './span-rows.ts';

export const SPAN_RULES = 'span-rules';

const rows = new SpanRows();

/** Evaluates the rules of tenants over their spans, as `rules` does over entries. Both are set in one place, and `rule-alerts` watches both. */
export const spanRules: SpanProcessor<RulesState> = {
  name: SPAN_RULES,
  // a rule is a setting of one processor, whatever it is over
  hears: [RULES],
  mostSettings: MOST_SETTINGS,
  ...rulesFold({ signal: 'spans', read: ({ spans }) => (spans !== null && rows.read(spans) ? rows : null) }),
};
