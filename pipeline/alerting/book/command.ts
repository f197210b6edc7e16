import { MAX_PARTIAL_BYTES, placeText, readPlace, type Source } from '../../processors/base/partial.ts';
import { readJson } from '../../core/read-json.ts';
import type { Alert, AlertSeverity } from './alert.ts';
import type { KafkaMessage } from '../../bus/connection/kafka.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { encodeHeaders, faultOf, isTick, readRecord } from '../../bus/records/record.ts';
import type { SignalRecord } from '../../bus/records/signal-record.ts';
import type { Signal } from '../../bus/records/signal.ts';
import { MAX_MESSAGE_BYTES } from '../../bus/records/topics.ts';
import type { Position } from '../../processors/base/position.ts';
import type { Tick } from '../../processors/base/processor.ts';
import { tickOf } from '../../processors/base/tick.ts';

/** What names a finding's alert, and when it was found: append time, seconds. */
type Named = { readonly id: number; readonly at: number };

/** Something fires, as an alert says it. */
export type Fires = Named & {
  /** `fired`: it begins, or begins again. `updated`: it goes on. */
  readonly kind: 'fired' | 'updated';
  /** The id that it has where the one that fired before was resolved by hand, and so is another alert. */
  readonly again?: number;
  readonly detector: string;
  readonly stream: string;
  readonly service: string;
  readonly severity: AlertSeverity;
  readonly title: string;
  readonly description: string;
  /** A JSON object as a string. */
  readonly evidence: string;
  /** In how many windows it has fired, under this id. */
  readonly fireCount: number;
};

/** It is over, and why. */
export type Back = Named & { readonly kind: 'back'; readonly note: string };

/** A user resolves an alert, which is as it was shown. Repeated, it changes nothing. */
export type Resolved = {
  readonly kind: 'resolved';
  readonly alert: Alert;
  readonly note: string;
  /** When that was, of one that a release before wrote; else when the command was appended. */
  readonly at?: number;
};

/** An alert as a release before kept it with its source: it is known from now on, and not published. */
export type Carried = {
  readonly kind: 'carried';
  readonly alert: Alert;
  readonly isByHand: boolean;
  /** Since when it fires this time, seconds; 0 where that was not kept. */
  readonly openedAt: number;
};

/** What the book of alerts is told (docs/topics.md, `alert-commands.v1`). */
export type AlertCommand = Fires | Back | Resolved | Carried;

/** Commands about alerts of a tenant, in their order. */
export type TenantCommands = {
  readonly tenantId: number;
  readonly retentionDays: number;
  readonly commands: readonly AlertCommand[];
};

/** The same commands, where what goes on at the same time is said once, as it was last. */
function collapsed(commands: readonly AlertCommand[]): AlertCommand[] {
  const kept: AlertCommand[] = [];
  const open = new Map<number, number>();
  for (const command of commands) {
    if (command.kind === 'resolved' || command.kind === 'carried') {
      kept.push(command);
      continue;
    }
    const place = open.get(command.id);
    const before = place === undefined ? undefined : kept[place];
    if (place !== undefined && before?.kind !== 'back' && command.kind === 'updated')
      kept[place] = { ...(before as Fires), ...command, kind: (before as Fires).kind };
    else open.set(command.id, kept.push(command) - 1);
  }
  return kept;
}

/** Commands as values of records, of at most 512 KiB. */
function commandValues(commands: readonly AlertCommand[]): Buffer[] {
  const values: string[][] = [];
  let left = 0;
  for (const command of commands) {
    const text = JSON.stringify(command);
    const bytes = Buffer.byteLength(text) + 1;
    if (bytes > left) {
      values.push([]);
      left = MAX_PARTIAL_BYTES - 2;
    }
    left -= bytes;
    values.at(-1)?.push(text);
  }
  return values.map((texts) => Buffer.from(`[${texts.join(',')}]`));
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const isTime = (value: unknown): boolean => Number.isFinite(value);
const TEXTS = ['detector', 'stream', 'service', 'severity', 'title', 'description', 'evidence'] as const;

/** Whether a member of a value is a command about this tenant's alerts. */
function isCommand(found: unknown, tenantId: number): found is AlertCommand {
  if (typeof found !== 'object' || found === null) return false;
  const command = found as Partial<Record<string, unknown>>;
  const alert = command['alert'] as Partial<Alert> | null | undefined;
  const hasAlert =
    typeof alert === 'object' &&
    alert !== null &&
    isId(alert.id) &&
    alert.tenantId === tenantId &&
    TEXTS.every((name) => typeof alert[name] === 'string');
  if (command['kind'] === 'resolved') return hasAlert && typeof command['note'] === 'string';
  if (command['kind'] === 'carried') return hasAlert && isTime(command['openedAt']);
  if (!isId(command['id']) || !isTime(command['at'])) return false;
  if (command['kind'] === 'back') return typeof command['note'] === 'string';
  return (
    (command['kind'] === 'fired' || command['kind'] === 'updated') &&
    isTime(command['fireCount']) &&
    TEXTS.every((name) => typeof command[name] === 'string')
  );
}

/** Reads a value; null where it does not hold commands about this tenant's alerts. */
function readCommands(value: Buffer, tenantId: number): AlertCommand[] | null {
  try {
    const found = readJson(value.toString());
    return Array.isArray(found) && found.every((one): one is AlertCommand => isCommand(one, tenantId)) ? found : null;
  } catch {
    return null;
  }
}

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
