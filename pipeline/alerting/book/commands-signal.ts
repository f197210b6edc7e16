import type { KafkaMessage } from '../../bus/connection/kafka.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { encodeHeaders, faultOf, isTick, readRecord } from '../../bus/records/record.ts';
import type { SignalRecord } from '../../bus/records/signal-record.ts';
import type { Signal } from '../../bus/records/signal.ts';
import { MAX_MESSAGE_BYTES } from '../../bus/records/topics.ts';
import { placeText, readPlace, type Source } from '../../processors/base/partial.ts';
import type { Position } from '../../processors/base/position.ts';
import type { Tick } from '../../processors/base/processor.ts';
import { tickOf } from '../../processors/base/tick.ts';
import type { Alert } from './alert.ts';
import { collapsed, commandValues, readCommands, type AlertCommand, type TenantCommands } from './command.ts';

const DAY_MS = 86_400_000;
const ENCODING = 'commands';
/** The reporter, and the source, of what a user does. */
const USER = 'user';
const ITSELF = 'self';

/** A record of `alert-commands.v1`, as it is read: who reports, and which of its outputs it is; null where it stands for itself. */
type CommandsRecord = SignalRecord & { readonly reporter: string; readonly source: Source | null };

/** What sources have found, and what users have resolved, in their tenants' partitions. No table. */
export const alertCommandsSignal: Signal<CommandsRecord> = {
  name: 'alert-commands',
  topic: {
    name: 'alert-commands.v1',
    partitions: 'configured',
    cleanup: 'delete',
    retentionMs: 7 * DAY_MS,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    timestamps: 'append',
  },
  version: 1,
  encodings: [ENCODING],
  decode(record, header) {
    const [reporter, text] = [header('reporter'), header('source')];
    const source = readPlace(text);
    if ((source === null && text !== ITSELF) || reporter === '')
      return faultOf('headers', 'The header source or reporter is not one of commands.');
    return { ...record, reporter, source };
  },
  check: () => null,
  rowEnds: () => null,
};

const recordOf = (
  reporter: string,
  source: string,
  { tenantId, retentionDays }: Omit<TenantCommands, 'commands'>,
  value: Buffer,
): AbsoluteRecord => ({
  topic: alertCommandsSignal.topic.name,
  partition: null,
  key: String(tenantId),
  value,
  headers: encodeHeaders(alertCommandsSignal, { tenantId, retentionDays, count: 1, bytes: 0, encoding: ENCODING }, { reporter, source }),
});

/** The records of what a source reports at one place of its input: all of it in one call, since they are numbered there. */
export function commandRecords(reporter: string, at: Position, told: readonly TenantCommands[]): AbsoluteRecord[] {
  const byTenant = new Map<number, TenantCommands>();
  for (const one of told) {
    const before = byTenant.get(one.tenantId);
    if (one.commands.length > 0) byTenant.set(one.tenantId, { ...one, commands: [...(before?.commands ?? []), ...one.commands] });
  }
  let number = 0;
  const { partition, offset, appendedAt } = at;
  return [...byTenant.values()].flatMap((own) =>
    commandValues(collapsed(own.commands)).map((value) =>
      recordOf(reporter, placeText({ partition, offset, number: number++, appendedAt }), own, value),
    ),
  );
}

/** The record of a user's resolution of an alert, which is as it was shown. */
export function resolutionRecord({ alert, note }: { readonly alert: Alert; readonly note: string }): AbsoluteRecord {
  const [value] = commandValues([{ kind: 'resolved', alert, note }]);
  return recordOf(USER, ITSELF, alert, value as Buffer);
}

/** Commands, as the book takes them. */
export type CommandsInput = Position & {
  readonly kind: 'commands';
  readonly tenantId: number;
  readonly retentionDays: number;
  readonly reporter: string;
  readonly source: Source | null;
  readonly commands: readonly AlertCommand[];
};

/** What the book sees of a record. One that cannot be read counts as a tick: time has passed. */
export function commandsInputOf(partition: number, message: KafkaMessage): CommandsInput | Tick {
  const at = { partition, offset: Number(message.offset), appendedAt: Number(message.timestamp) };
  const record = readRecord(alertCommandsSignal, partition, message);
  if (isTick(record)) return tickOf(at, message);
  if (record.fault !== null) return { kind: 'tick', ...at };
  const { tenantId, retentionDays, value, reporter, source } = record as CommandsRecord;
  const commands = readCommands(value, tenantId);
  return commands === null ? { kind: 'tick', ...at } : { kind: 'commands', ...at, tenantId, retentionDays, reporter, source, commands };
}
