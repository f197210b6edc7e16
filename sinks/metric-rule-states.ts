import { metricRuleStateLayout, metricRuleStatesSignal } from '../pipeline/counters/metric-rule-states.ts';
import { rowsSink } from './rows-sink.ts';

/** How rules over metrics stand, into `metric_rule_states`. */
export const metricRuleStatesSink = rowsSink('metric_rule_states', metricRuleStatesSignal, metricRuleStateLayout);
