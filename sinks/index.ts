import { registry } from '../pipeline/core/registry.ts';
import { alertsSink } from './alerts.ts';
import { createLogsSink } from './logs.ts';
import { measuresSink } from './measures.ts';
import { patternCountsSink } from './pattern-counts.ts';
import { patternsSink } from './patterns.ts';
import type { Sink } from './sink.ts';
import { volumeSink } from './volume.ts';

/** Every table that is filled from a topic. Adding one: a file, a schema, a line here. */
export const sinks = registry<Sink>(
  (sink) => [sink.name],
  [createLogsSink(), volumeSink, measuresSink, alertsSink, patternCountsSink, patternsSink],
);
