import { busTopics, stateTopic, type TopicSpec } from '../pipeline/bus/records/topics.ts';
import { registry, type Registry } from '../pipeline/core/registry.ts';
import type { ProcessorFile } from '../pipeline/processors/processor-file.ts';
import { mergers, processors, spanProcessors } from '../pipeline/processors/index.ts';
import { METRIC_RULES } from '../pipeline/alerting/metrics/metric-rule-fault.ts';
import { CUSTOM_DETECTORS } from '../pipeline/alerting/settings/switch.ts';
import { partialsSignal } from '../pipeline/processors/merge/partials.ts';
import { alertBook } from '../pipeline/alerting/book/alert-book.ts';
import { alertCommandsSignal } from '../pipeline/alerting/book/command.ts';
import { sentSignals, signals, type StoredSignal } from './signals.ts';

/** Every topic of the service: one for each signal that is stored, those of processors, one for the states of each, and those of the bus. */
export function topicsWith(files: readonly ProcessorFile[], stored: readonly StoredSignal[]): Registry<TopicSpec> {
  const own = [...processors.members, ...spanProcessors.members, ...mergers.members];
  const others = files.flatMap(({ processor, merger }) => (merger === undefined ? [processor] : [processor, merger]));
  const usages = sentSignals(stored).map(({ source }) => ({ name: source.usage }));
  return registry<TopicSpec>(
    (topic) => [topic.name],
    [
      ...stored.map(({ signal }) => signal.topic),
      partialsSignal.topic,
      alertCommandsSignal.topic,
      ...[...usages, ...own, ...others, { name: METRIC_RULES }, { name: CUSTOM_DETECTORS }, alertBook].map(({ name }) => stateTopic(name)),
      ...busTopics,
    ],
  );
}

/** Those of a service without processors and signals of others. */
export const topics = topicsWith([], signals.members);
