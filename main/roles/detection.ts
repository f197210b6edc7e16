import type { AdminRoute } from '../../api/admin/admin-routes.ts';
import type { Peers } from '../../api/admin/peers.ts';
import { detectorAdminRoutes } from '../../api/alerts/detector-admin-routes.ts';
import { processorSettingRoutes } from '../../api/admin/processor-settings.ts';
import { createDetectorRoutes } from '../../api/alerts/detector-routes.ts';
import { adminMetricRuleRoutes, createMetricRuleRoutes } from '../../api/alerts/metric-rule-routes.ts';
import { adminRuleRoutes, createRuleRoutes, type RuleDetector } from '../../api/alerts/rule-routes.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import { rulesOf } from '../../api/control/rules.ts';
import type { SettingCheck } from '../../api/control/processor-settings.ts';
import { switchedOff } from '../../api/control/switched-off.ts';
import type { Route } from '../../api/http/route.ts';
import { customDetectorOf, parseCondition } from '../../pipeline/processors/rules/condition.ts';
import { MOST_RULES, RULES, ruleKey } from '../../pipeline/processors/rules/rules-fold.ts';
import type { LoadedDetector } from '../../pipeline/alerting/custom/load-detectors.ts';
import { METRIC_RULES, metricRuleKey, MOST_METRIC_RULES } from '../../pipeline/alerting/metrics/metric-rule-fault.ts';
import type { MetricRule } from '../../pipeline/alerting/metrics/metric-rule.ts';
import { CUSTOM_DETECTORS } from '../../pipeline/alerting/settings/switch.ts';
import { detectorsThatFire, sensitivityPlace } from './alert-resolver.ts';

/** What the endpoints of detectors and rules need. */
export type DetectionOptions = {
  readonly control: ControlStore;
  readonly peers: Peers;
  readonly checks: readonly SettingCheck[];
  /** The detectors of others. */
  readonly custom: readonly LoadedDetector[];
};

/** Where rules are set. */
const places = { processor: RULES, slots: MOST_RULES, keyOf: ruleKey };
/** Where those over metrics are set: rule files have several for each thing that is watched. */
export const metricRulePlaces = { processor: METRIC_RULES, slots: MOST_METRIC_RULES, keyOf: metricRuleKey, factor: 2, prefix: 'mr_' };

/** The custom detector that a rule's `if` names, and whether it is there; null for none. */
export function ruleDetector({ control, custom }: Pick<DetectionOptions, 'control' | 'custom'>, condition: string): RuleDetector | null {
  const when = parseCondition(condition);
  const name = typeof when === 'string' ? null : customDetectorOf(when);
  if (name === null) return null;
  const found = custom.find((one) => one.name === name);
  if (found === undefined) return { name, state: 'missing', since: null, reason: null };
  const off = switchedOff(control, CUSTOM_DETECTORS, found);
  return { name, state: off === null ? 'on' : 'off', since: off?.since ?? null, reason: off?.reason ?? null };
}

/** The routes of a tenant's detectors and rules. */
export const detectionRoutes = (options: DetectionOptions): readonly Route[] => [
  ...createDetectorRoutes({
    ...{ ...options, sensitivity: sensitivityPlace },
    detectors: detectorsThatFire(options.custom).map(({ name, description }) => ({ name, description })),
  }),
  ...createRuleRoutes({ ...options, places, detectorOf: (condition) => ruleDetector(options, condition) }),
  ...createMetricRuleRoutes({ ...options, places: metricRulePlaces }),
];

/** The operators' routes for settings of processors, detectors and tenants' rules. */
export const adminDetectionRoutes = (options: DetectionOptions): AdminRoute[] => [
  ...processorSettingRoutes(options.control, options.peers, options.checks),
  ...detectorAdminRoutes({
    ...{ ...options, sensitivity: sensitivityPlace },
    ...{ detectors: detectorsThatFire(options.custom), switches: CUSTOM_DETECTORS },
  }),
  ...adminRuleRoutes({ ...options, places, detectorOf: (condition) => ruleDetector(options, condition) }),
  ...adminMetricRuleRoutes({ ...options, places: metricRulePlaces }),
];

/** The rules of a tenant over metrics, as they are set. */
export const metricRulesOf = ({ control, checks }: Pick<DetectionOptions, 'control' | 'checks'>, tenantId: number): readonly MetricRule[] =>
  rulesOf({ control, checks, places: metricRulePlaces }, tenantId) as unknown as readonly MetricRule[];
