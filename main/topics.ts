import { busTopics, stateTopic, type TopicSpec } from '../pipeline/bus/topics.ts';
import { registry } from '../pipeline/core/registry.ts';
import { mergers, processors } from '../pipeline/processors/index.ts';
import { partialsSignal } from '../pipeline/processors/merge/partials-signal.ts';
import { sinks } from '../sinks/index.ts';

/** Every topic of the service: one for each signal that is stored, those of processors, one for the states of each, and those of the bus. */
export const topics = registry<TopicSpec>(
  (topic) => [topic.name],
  [
    ...new Set(sinks.members.map(({ signal }) => signal.topic)),
    partialsSignal.topic,
    ...[...processors.members, ...mergers.members].map(({ name }) => stateTopic(name)),
    ...busTopics,
  ],
);
