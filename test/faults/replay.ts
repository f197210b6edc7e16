import { alertLayout, type AlertRow } from '../../pipeline/alerting/book/alert.ts';
import { alertBook, FIRST_VERSION } from '../../pipeline/alerting/book/alert-book.ts';
import { alertCommandsSignal, commandsInputOf } from '../../pipeline/alerting/book/command.ts';
import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../pipeline/bus/connection/kafka.ts';
import { alerting } from '../../pipeline/alerting/streams/alerting.ts';
import { inputOf } from '../../pipeline/processors/base/input.ts';
import { partialInputOf, hostedProcessor, hostedMerger } from '../../pipeline/processors/merge/partials.ts';
import { rates } from '../../pipeline/processors/rates/rates.ts';
import type { Cluster } from './cluster.ts';
import { harnessClient, withAdmin } from './kafka-state.ts';
import type { Violation } from './verdict.ts';

const EXAMPLES = 20;
const PATIENCE_MS = 180_000;
const COMMANDS = alertCommandsSignal.topic.name;

/** All records of a topic that are there now, by partition. */
async function readTopic(cluster: Cluster, topic: string): Promise<Map<number, KafkaMessage[]>> {
  const ends = await withAdmin(cluster, (admin) => admin.fetchTopicOffsets(topic));
  const left = new Map(ends.filter(({ high, low }) => Number(high) > Number(low)).map(({ partition, high }) => [partition, Number(high)]));
  const found = new Map<number, KafkaMessage[]>(ends.map(({ partition }) => [partition, []]));
  const consumer = harnessClient(cluster.kafkaAddresses).consumer({
    groupId: `replay-${topic}-${String(Date.now())}`,
    maxBytes: 32 * 1024 * 1024,
  });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  try {
    await new Promise<void>((resolve, reject) => {
      if (left.size === 0) resolve();
      consumer
        .run({
          autoCommit: false,
          eachMessage: ({ partition, message }) => {
            const end = left.get(partition);
            if (end === undefined || Number(message.offset) >= end) return Promise.resolve();
            found.get(partition)?.push(message);
            if (Number(message.offset) === end - 1) left.delete(partition);
            if (left.size === 0) resolve();
            return Promise.resolve();
          },
        })
        .catch(reject);
    });
  } finally {
    await consumer.disconnect();
  }
  return found;
}

const keyOf = (record: Headed): string => `${header(record, 'processor')} ${header(record, 'source').split(':').slice(0, 3).join(':')}`;
type Headed = { readonly headers?: AbsoluteRecord['headers'] | KafkaMessage['headers'] };
const header = ({ headers }: Headed, name: string): string => headers?.[name]?.toString() ?? '';

/** What a host that was never killed counts of the log. */
function partialsOf(logs: ReadonlyMap<number, readonly KafkaMessage[]>): Map<string, string> {
  const hosted = hostedProcessor(rates);
  const found = new Map<string, string>();
  for (const [partition, messages] of logs) {
    const state = hosted.init();
    for (const message of messages)
      for (const record of hosted.fold(state, inputOf(partition, message)))
        if (record.topic === 'partials.v1') found.set(keyOf(record), record.value.toString('base64'));
  }
  return found;
}

const commandKeyOf = (record: Headed): string =>
  `${header(record, 'reporter')} ${header(record, 'source').split(':').slice(0, 3).join(':')}`;

/** What a merger that was never killed reports of these partials. */
function commandsOf(partials: ReadonlyMap<number, readonly KafkaMessage[]>): Map<string, string> {
  const hosted = hostedMerger(alerting);
  const found = new Map<string, string>();
  for (const [partition, messages] of partials) {
    const state = hosted.init();
    for (const message of messages)
      for (const record of hosted.fold(state, partialInputOf(partition, message)))
        if (record.topic === COMMANDS) found.set(commandKeyOf(record), record.value.toString());
  }
  return found;
}

/** What a book that was never killed tells of these commands: the last word on each alert. */
function alertsOf(commands: ReadonlyMap<number, readonly KafkaMessage[]>): Map<number, AlertRow> {
  const found = new Map<number, AlertRow>();
  for (const [partition, messages] of commands) {
    const state = alertBook.init();
    for (const message of messages)
      for (const record of alertBook.fold(state, commandsInputOf(partition, message)))
        for (const row of alertLayout.read(record.value, Number(record.headers['count'])) as AlertRow[]) found.set(row.id, row);
  }
  return found;
}

const shown = ({ id, detector, stream, state, firedAt, resolvedAt, fireCount, version }: AlertRow): string =>
  [id, detector, stream, state, firedAt, resolvedAt, fireCount, version].join(' ');

const QUERY = (
  bound: number,
): string => `SELECT id, any(detector), any(stream), argMax(state, version), toUnixTimestamp(any(fired_at)), toUnixTimestamp(argMax(resolved_at, version)),
argMax(fire_count, version), max(version) AS v FROM alerts WHERE part = 0 AND version < ${String(bound)} GROUP BY id ORDER BY id`;

async function stored({ clickhouse: { url, user, password, database } }: Cluster, bound: number): Promise<string[]> {
  const response = await fetch(`${url}/?database=${database}&default_format=TSV`, { method: 'POST', body: QUERY(bound), headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password } }); // prettier-ignore
  if (!response.ok) throw new Error(await response.text());
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  return lines.map((line) => line.split('\t').join(' ').replaceAll('\\\\', '\\'));
}

/** What differs between what hosts have told that were killed, and a replay of the log without kills. `figures` is told how much there was. */
export async function replayFaults(cluster: Cluster, figures: (name: string, value: number) => void): Promise<Violation[]> {
  const commands = await readTopic(cluster, COMMANDS);
  // what is reported of partials is there when these are, and what is counted of the log
  const partials = await readTopic(cluster, 'partials.v1');
  const logs = await readTopic(cluster, 'logs.v1');
  const expected = partialsOf(logs);
  const own = [...partials.values()].flat().filter((message) => header(message, 'processor') === 'rates');
  const told = new Set(own.map(keyOf));
  const different = own.filter((message) => expected.get(keyOf(message)) !== message.value?.toString('base64')).map(keyOf);
  const last = new Map<string, number>();
  for (const key of told) {
    const [partition = '', offset = ''] = (key.split(' ')[1] ?? '').split(':');
    last.set(partition, Math.max(last.get(partition) ?? -1, Number(offset)));
  }
  const missing = [...expected.keys()].filter((key) => {
    const [partition = '', offset = ''] = (key.split(' ')[1] ?? '').split(':');
    return Number(offset) <= (last.get(partition) ?? -1) && !told.has(key);
  });
  const reported = commandsOf(partials);
  const ownCommands = [...commands.values()].flat().filter((message) => header(message, 'reporter') === alerting.name);
  const reportedAs = ownCommands.filter((message) => reported.get(commandKeyOf(message)) !== message.value?.toString()).map(commandKeyOf);
  const alerts = alertsOf(commands);
  const bound = FIRST_VERSION + Math.max(...[...commands.values()].map((messages) => Number(messages.at(-1)?.offset ?? -1) + 1));
  const wanted = [...alerts.values()].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1)).map(shown);
  let rows = await stored(cluster, bound);
  const deadline = Date.now() + PATIENCE_MS;
  while (JSON.stringify(rows) !== JSON.stringify(wanted) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    rows = await stored(cluster, bound);
  }
  figures('partials of rates on the topic', own.length);
  figures('partials of rates that were told again after a kill', own.length - told.size);
  figures('commands of alerting on the topic', ownCommands.length);
  figures('commands of alerting that were reported again after a kill', ownCommands.length - new Set(ownCommands.map(commandKeyOf)).size);
  figures('alerts fired', alerts.size);
  figures(
    'windows that fired, of all alerts',
    [...alerts.values()].reduce((sum, { fireCount }) => sum + fireCount, 0),
  );
  const [isWanted, isStored] = [new Set(wanted), new Set(rows)];
  const violation = (check: string, examples: readonly unknown[]): Violation[] =>
    examples.length === 0 ? [] : [{ check, count: examples.length, examples: examples.slice(0, EXAMPLES) }];
  return [
    ...violation('a partial of the rates is not that of a replay without kills', different),
    ...violation('a partial of the rates is missing', missing),
    ...violation('a command is not that of a replay without kills', reportedAs),
    ...violation(
      'an alert in the table is not that of a replay without kills',
      rows.filter((row) => !isWanted.has(row)),
    ),
    ...violation(
      'an alert of a replay without kills is not in the table',
      wanted.filter((row) => !isStored.has(row)),
    ),
  ];
}
