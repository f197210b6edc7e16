import { busTopics, stateTopic, type TopicSpec } from '../pipeline/bus/topics.ts';
import { registry } from '../pipeline/core/registry.ts';
import { processors } from '../pipeline/processors/index.ts';
import { sinks } from '../sinks/index.ts';

/** Every topic of the service: one for each signal that is stored, one for the states of each processor, and those of the bus. */
export const topics = registry<TopicSpec>(
  (topic) => [topic.name],
  [...new Set(sinks.members.map(({ signal }) => signal.topic)), ...processors.members.map(({ name }) => stateTopic(name)), ...busTopics],
);
