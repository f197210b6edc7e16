import { AbsoluteWriter } from '../../pipeline/bus/producer/absolute-record.ts';
import { createKafka, type Kafka } from '../../pipeline/bus/connection/kafka.ts';
import { encodeTick } from '../../pipeline/bus/records/record.ts';
import type { Signal } from '../../pipeline/bus/records/signal.ts';
import { StateLog } from '../../pipeline/bus/state/state-log.ts';
import { KafkaStateTopic } from '../../pipeline/bus/state/state-topic.ts';
import { stateTopic } from '../../pipeline/bus/records/topics.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { spanInputOf, type SpanInput } from '../../pipeline/processors/spans/span-input.ts';
import { spansSignal } from '../../pipeline/traces/spans-signal.ts';
import { logsSignal } from '../../pipeline/logs/logs-signal.ts';
import { ProcessorHost, type ProcessorHostOptions } from '../../pipeline/processors/host/host.ts';
import { mergers, processors, spanProcessors } from '../../pipeline/processors/index.ts';
import { SnapshotBudget } from '../../pipeline/processors/host/snapshot-budget.ts';
import { partialInputOf, partialsSignal, hostedProcessor, hostedMerger } from '../../pipeline/processors/merge/partials.ts';
import { alertBook } from '../../pipeline/alerting/book/alert-book.ts';
import { alertCommandsSignal, commandsInputOf, type CommandsInput } from '../../pipeline/alerting/book/command.ts';
import type { Merger, MergerInput } from '../../pipeline/processors/merge/merger.ts';
import type { Fold, Tick } from '../../pipeline/processors/base/processor.ts';
import type { Position } from '../../pipeline/processors/base/position.ts';
import { SETTING, settingText, type Setting } from '../../pipeline/core/setting.ts';
import { billedInputOf, inputOf, type BilledInput } from '../../pipeline/processors/base/input.ts';
import { usageOf } from '../../pipeline/processors/usage.ts';
import { loadProcessorFiles } from '../processor-files.ts';
import { sentSignals, signalsWith, type SentSignal } from '../signals.ts';
import { createControlStore } from './control.ts';
import { customDetectors } from './custom-detectors.ts';
import { metricRules } from './metric-rules.ts';
import type { Role, RoleContext } from './role.ts';

/** The consumer groups that all processors share, and all mergers. */
const PROCESSORS_GROUP = 'logweir-processors';
const MERGERS_GROUP = 'logweir-mergers';
/** Custom detectors read in a group of their own, so that nothing else waits for them. */
const CUSTOM_GROUP = 'logweir-custom-detectors';
const BOOK_GROUP = 'logweir-alert-book';

/** What a host reads, who folds it, and who shares the reading. */
type Hosting<In extends Position> = Pick<ProcessorHostOptions<In>, 'groupId' | 'inputOf' | 'settings' | 'budget' | 'minBytes'> & {
  readonly signal: Pick<Signal, 'name' | 'version' | 'topic'>;
  readonly folds: readonly Fold<unknown, In>[];
  readonly entriesOf: (input: In) => number;
};

/** Folds the log into what is derived from it, and what spans its partitions into one: one reading of each, for every processor. */
export const processorsRole: Role = {
  async services(context: RoleContext): Promise<Service[]> {
    const files = await loadProcessorFiles(context.config.processors.files);
    const stored = await signalsWith(context.config.signals.files);
    const sent = sentSignals(stored);
    const kafka = createKafka({ ...context.config.kafka, clientId: 'logweir-processors', log: context.log });
    const control = createControlStore(context);
    const overMetrics = metricRules(context, control, stored);
    const merging = [...mergers.members, ...files.flatMap(({ merger }) => merger ?? []), overMetrics.merger];
    const shared: Shared = { settings: () => control.settings, budget: new SnapshotBudget() };
    const first = hostOf(context, kafka, {
      ...{ signal: logsSignal, groupId: PROCESSORS_GROUP, inputOf },
      folds: [
        ...sent.filter(isLogs).map(usageFold),
        ...[...processors.members, ...files.map(({ processor }) => processor)].map((one) => hostedProcessor(one)),
      ],
      entriesOf: (input) => (input.kind === 'batch' ? (input.columns?.count ?? 0) : 0),
      ...shared,
    });
    const others = sent.filter((one) => !isLogs(one)).map((one) => otherHost(context, kafka, one, shared));
    const custom = await customDetectors(context, control);
    const mergersOf = (groupId: string, own: readonly Merger[]): ReturnType<typeof hostOf<MergerInput>>[] =>
      // who merges nothing does not read what others merge
      own.length === 0
        ? []
        : [
            hostOf<MergerInput>(context, kafka, {
              ...{ signal: partialsSignal, groupId, inputOf: partialInputOf, folds: own.map(hostedMerger) },
              ...{ ...shared, entriesOf: () => 0 },
            }),
          ];
    const book = hostOf<CommandsInput | Tick>(context, kafka, {
      ...{ signal: alertCommandsSignal, groupId: BOOK_GROUP, inputOf: commandsInputOf, folds: [alertBook] },
      // an alert, and a user who resolves one, wait for each of the few records
      ...{ budget: shared.budget, minBytes: 1, entriesOf: () => 0 },
    });
    const hosts = [
      first,
      ...others,
      ...mergersOf(MERGERS_GROUP, merging),
      ...mergersOf(CUSTOM_GROUP, custom === null ? [] : [custom.merger]),
      book,
    ];
    const status = (): ProcessorHost['status'] => hosts.flatMap(({ host }) => host.status);
    context.showProcessors(status);
    context.registerCheck('processors', () => hosts.every(({ host }) => host.joined));
    context.registerCheck('halted processors', () => status().every(({ halted }) => halted === null));
    return [
      control,
      overMetrics.service,
      ...(custom === null ? [] : [custom.service]),
      ...hosts.flatMap(({ states, host }) => [...states, host]),
    ];
  },
};

/** What the hosts of a process share: the settings, as far as they are known, and the budget for snapshots. */
type Shared = { readonly settings: () => readonly Setting[]; readonly budget: SnapshotBudget };

/** Who reads a signal that is not the log: what is derived of it, where something is, and what it is billed for. */
function otherHost(context: RoleContext, kafka: Kafka, one: SentSignal, { settings, budget }: Shared): AnyHosting {
  const common = { signal: one.signal, groupId: `${PROCESSORS_GROUP}-${one.signal.name}`, budget };
  if (one.signal.name !== spansSignal.name)
    return hostOf<BilledInput>(context, kafka, { ...common, inputOf: billedInputOf, folds: [usageFold(one)], entriesOf: () => 0 });
  return hostOf<SpanInput>(context, kafka, {
    ...{ ...common, settings, inputOf: spanInputOf, folds: [usageFold(one), ...spanProcessors.members.map((own) => hostedProcessor(own))] },
    entriesOf: (input) => (input.kind === 'batch' ? (input.spans?.count ?? 0) : 0),
  });
}

/** Who counts what a signal's records are billed for. Those of the log are read with what is derived of it. */
const usageFold = ({ signal, source }: SentSignal): Fold<unknown, BilledInput> => usageOf(signal.topic.name, source.usage);
const isLogs = ({ signal }: SentSignal): boolean => signal.name === logsSignal.name;

const headersOf = (setting: Setting | undefined): Record<string, string> =>
  setting === undefined ? {} : { [SETTING]: settingText(setting) };

/** A host, whatever it reads. */
type AnyHosting = { readonly host: Pick<ProcessorHost, 'status' | 'joined'> & Service; readonly states: readonly StateLog[] };

function hostOf<In extends Position>(
  context: RoleContext,
  kafka: Kafka,
  { signal, folds, entriesOf, groupId, inputOf: read, settings, budget, minBytes }: Hosting<In>,
): { readonly host: ProcessorHost<In>; readonly states: readonly StateLog[] } {
  const log = context.log.child({ component: 'processors' });
  const topic = signal.topic.name;
  const states = folds.map(({ name }) => new StateLog({ topic: new KafkaStateTopic({ kafka, log, topic: stateTopic(name).name }), log }));
  const host = new ProcessorHost<In>({
    ...{ kafka, log, topic, groupId, inputOf: read },
    hosted: folds.map((processor, index) => ({ processor, states: states[index] as StateLog })),
    writer: new AbsoluteWriter(kafka),
    tick: (partition, setting) => ({ topic, partition, key: null, ...encodeTick(signal, headersOf(setting)) }),
    ...(settings === undefined ? {} : { settings }),
    ...(budget === undefined ? {} : { budget }),
    ...(minBytes === undefined ? {} : { minBytes }),
    onCrash: (error) => context.fail(error),
    onFold: (processor, ms, input) => {
      context.metrics.foldSeconds.inc({ processor }, ms / 1000);
      context.metrics.foldedEntries.inc({ processor }, entriesOf(input));
    },
  });
  return { host, states };
}
