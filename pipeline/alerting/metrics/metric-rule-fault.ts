import type { Json, Setting } from '../../core/setting.ts';
import { PromqlSyntaxError } from '../../../promql/base/errors.ts';
import { typeOf, typeText } from '../../../promql/parser/check.ts';
import { parseExpression } from '../../../promql/parser/parse.ts';
import { readTemplate } from '../../../promql/templates/expand.ts';
import { TemplateError } from '../../../promql/templates/tree.ts';
import { METRIC_RULE_EXAMPLES, readMetricRule, type ReadMetricRule } from './metric-rule.ts';

/** The settings of rules over metrics: one for each that a tenant may have. */
export const METRIC_RULES = 'metric-rules';
export const MOST_METRIC_RULES = 100;
export const metricRuleKey = (slot: number): string => `rule_${String(slot)}`;
/** Settings of all tenants. */
const MOST_METRIC_SETTINGS = 5000;

/** What is wrong with a rule as a setting, as a sentence; null for nothing. */
function metricRuleFault({ tenantId, value }: { readonly tenantId: number; readonly value: Json }): string | null {
  if (tenantId === 0) return 'A rule is of one tenant.';
  const read = readMetricRule(value);
  return typeof read === 'string' ? read : (expressionFault(read.rule.expr) ?? templatesFault(read));
}

function expressionFault(text: string): string | null {
  try {
    const type = typeOf(parseExpression(text));
    return type === 'vector' || type === 'scalar' ? null : `The expression of a rule gives an instant vector or a scalar, not a ${typeText(type)}.`; // prettier-ignore
  } catch (error) {
    if (error instanceof PromqlSyntaxError) return `The expression is not PromQL: ${error.message}`;
    throw error;
  }
}

function templatesFault({ kind, labels, annotations }: ReadMetricRule): string | null {
  // labels of what is recorded or watched are no templates
  for (const [name, text] of kind !== 'alert' ? [] : [...Object.entries(labels), ...Object.entries(annotations)])
    try {
      readTemplate(text);
    } catch (error) {
      if (error instanceof TemplateError) return `The template of ${JSON.stringify(name)} cannot be read: ${error.message}.`;
      throw error;
    }
  return null;
}

/** What may be set, and how it is checked. */
export const metricRuleSettings = {
  name: METRIC_RULES,
  settings: Object.fromEntries(
    Array.from({ length: MOST_METRIC_RULES }, (_none, index) => [metricRuleKey(index + 1), METRIC_RULE_EXAMPLES]),
  ),
  mostSettings: MOST_METRIC_SETTINGS,
  checkSetting: (setting: Pick<Setting, 'tenantId' | 'value'>): string | null => metricRuleFault(setting),
};
