import { busTopics, stateTopic, type TopicSpec } from '../pipeline/bus/records/topics.ts';
import { registry, type Registry } from '../pipeline/core/registry.ts';
import type { Extension } from '../pipeline/processors/extension.ts';
import { mergers, processors } from '../pipeline/processors/index.ts';
import { CUSTOM_DETECTORS } from '../pipeline/processors/custom/switch.ts';
import { partialsSignal } from '../pipeline/processors/merge/partials-signal.ts';
import { sentSignals, signals, type StoredSignal } from './signals.ts';

/** Every topic of the service: one for each signal that is stored, those of processors, one for the states of each, and those of the bus. */
export function topicsWith(extensions: readonly Extension[], stored: readonly StoredSignal[]): Registry<TopicSpec> {
  const own = [...processors.members, ...mergers.members];
  const others = extensions.flatMap(({ processor, merger }) => (merger === undefined ? [processor] : [processor, merger]));
  const usages = sentSignals(stored).map(({ source }) => ({ name: source.usage }));
  return registry<TopicSpec>(
    (topic) => [topic.name],
    [
      ...stored.map(({ signal }) => signal.topic),
      partialsSignal.topic,
      ...[...usages, ...own, ...others, { name: CUSTOM_DETECTORS }].map(({ name }) => stateTopic(name)),
      ...busTopics,
    ],
  );
}

/** Those of a service without processors and signals of others. */
export const topics = topicsWith([], signals.members);
