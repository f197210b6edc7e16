import type { ControlStore } from '../../api/control/control-store.ts';
import { effectivePlan } from '../../api/control/flags.ts';
import type { QueryPool } from '../../api/engine/workers/query-pool.ts';
import type { QueryEngine } from '../../api/query/engine.ts';
import type { RuleEvaluation } from '../../api/prometheus/evaluate-rule.ts';
import { httpErrorOf } from '../../pipeline/core/errors.ts';
import { startAll, stopAll, type Service } from '../../pipeline/core/service.ts';
import { createMetricRules } from '../../pipeline/alerting/metrics/metric-rules.ts';
import type { MetricRunner, Outcome, Standing } from '../../pipeline/alerting/metrics/evaluations.ts';
import type { ReadMetricRule } from '../../pipeline/alerting/metrics/metric-rule.ts';
import type { Merger } from '../../pipeline/processors/merge/merger.ts';
import type { StoredSignal } from '../signals.ts';
import type { RoleContext } from './role.ts';
import { readSets } from './sets.ts';

/** Processes that evaluate rules, begun with the first rule; a tenant's are in one of them. */
const WORKERS = 2;
/** What an evaluation may take, and evaluations of a tenant that run at once. Milliseconds. */
const TIMEOUT_MS = 10_000;
const AT_ONCE = 2;
/** What will pass: ClickHouse cannot be reached, or workers are busy. */
const TRANSIENT: readonly number[] = [429, 503];
/** It took too long. */
const SLOW = 504;

/** Rules over metrics: the merger that folds what was evaluated, and the service that ends the processes which evaluate. */
export type MetricRules = { readonly merger: Merger; readonly service: Service };

/** Evaluates rules in query workers of this process's own, so that none of a tenant's expressions delays a fold. */
export function metricRules(context: RoleContext, control: ControlStore, stored: readonly StoredSignal[]): MetricRules {
  const { log } = context;
  const sets = readSets(context, stored, control);
  const stopping = new AbortController();
  let pool: QueryPool | null = null;
  let engine: QueryEngine | null = null;
  const started = (): QueryEngine => {
    if (engine !== null) return engine;
    pool = sets.pool(WORKERS, 'rule workers');
    engine = sets.over(pool);
    void pool.start();
    return engine;
  };
  let evaluated = 0;
  const evaluate = async (tenantId: number, rule: ReadMetricRule, time: number, retentionDays: number): Promise<Outcome> => {
    const { kind, name, labels, annotations } = rule;
    const parameters: RuleEvaluation = { kind, name, expr: rule.rule.expr, time, labels, annotations };
    evaluated += 1;
    try {
      const { body } = await started().run({
        ...{ operation: 'prometheus/rule', parameters, tenantId, retentionDays, atOnce: AT_ONCE },
        ...{ requestId: `rule-${rule.rule.id}-${String(evaluated)}`, startedAt: performance.now(), timeoutMs: TIMEOUT_MS },
        signal: stopping.signal,
      });
      return { series: textOf(body) };
    } catch (error) {
      const known = httpErrorOf(error);
      if (stopping.signal.aborted || (known !== null && TRANSIENT.includes(known.status))) return null;
      if (known === null) log.error({ err: error, tenantId, rule: rule.rule.id }, 'Evaluating a rule failed.');
      return { error: known?.message ?? 'the rule could not be evaluated', isSlow: known?.status === SLOW };
    }
  };
  const standingOf = (tenantId: number): Standing => {
    const tenant = control.tenant(tenantId);
    if (tenant === undefined || tenant.disabled) return null;
    const { features, retentionDays } = effectivePlan(tenant);
    return features.metrics ? { retentionDays } : 'off';
  };
  const runner: MetricRunner = { now: Date.now, standingOf, evaluate };
  return {
    merger: createMetricRules(runner),
    service: {
      name: 'metric rules',
      start: () => startAll(sets.services),
      stop: async () => {
        stopping.abort();
        await pool?.stop();
        await stopAll(sets.services);
      },
    },
  };
}

/** The body of an answer, which is JSON. */
function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  return Buffer.isBuffer(body) || body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body);
}
