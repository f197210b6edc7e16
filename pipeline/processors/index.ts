import { registry } from '../core/registry.ts';
import { alerting } from '../alerting/streams/alerting.ts';
import type { Merger } from './merge/merger.ts';
import { clusters } from './patterns/clusters.ts';
import { createPatterns } from './patterns/patterns.ts';
import type { Processor } from './base/processor.ts';
import { rates } from './rates/rates.ts';
import { ruleAlerts } from '../alerting/rules/rule-alerts.ts';
import { rules } from './rules/rules.ts';
import { spanRules } from './rules/span-rules.ts';
import { spanAlerts } from '../alerting/spans/span-alerts.ts';
import { spanRates } from './spans/span-rates.ts';
import { spanCounts } from './spans/span-counts.ts';
import type { SpanProcessor } from './spans/span-input.ts';
import { createVolume } from './volume/volume.ts';

/** Every processor, in the order in which they take a record. Adding one: a file, a line here, a test. */
export const processors = registry<Processor>((processor) => [processor.name], [createVolume(), rates, rules, createPatterns()]);

/** Every processor of spans, likewise. */
export const spanProcessors = registry<SpanProcessor>((processor) => [processor.name], [spanCounts, spanRates, spanRules]);

/** Every merger, in the order in which they take a partial. */
export const mergers = registry<Merger>((merger) => [merger.name], [alerting, ruleAlerts, clusters, spanAlerts]);
