import { registry } from '../core/registry.ts';
import type { CountDetector, PatternDetector } from './detector.ts';
import { errorRate } from './error-rate.ts';
import { logRate } from './log-rate.ts';
import { patternRate } from './pattern-rate.ts';
import { durationP95, requestRate, type SpanDetector } from './span-detectors.ts';
import { silence } from './silence.ts';

/** Every detector of counts, in the order in which they are called. Adding one: a file, a line here, a test. */
export const detectors = registry<CountDetector>((detector) => [detector.name], [errorRate, silence, logRate]);

/** Every detector of the errors of one template, likewise. */
export const patternDetectors = registry<PatternDetector>((detector) => [detector.name], [patternRate]);

/** What is found of requests beside `error_rate` and `silence`, which are looked for there too. */
export const spanDetectors = registry<SpanDetector>((detector) => [detector.name], [requestRate, durationP95]);
