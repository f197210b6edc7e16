import type { KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import { encodeTick, encodeHeaders } from '../../../pipeline/bus/records/record.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { RecordStreams } from '../../../pipeline/logs/record-streams.ts';
import { EntryCodec, EntryWriter } from '../../../pipeline/logs/writer.ts';
import type { Input } from '../../../pipeline/processors/base/processor.ts';
import { SETTING, settingText, type Setting } from '../../../pipeline/core/setting.ts';

/** A record without entries that counts bytes for a tenant. */
export const billed =
  (tenantId: number, bytes: number, appendedAt: number) =>
  (partition: number, offset: number): Input => ({
    ...{ kind: 'batch', partition, offset, appendedAt, tenantId, retentionDays: 0, bytes },
    ...{ columns: null, streams: RecordStreams.none },
  });

const codec = new EntryCodec();

/** A message of `logs.v1` as the service writes it, with these entries. */
export function logMessage(
  entries: readonly object[],
  {
    offset,
    appendedAt,
    tenantId = 1,
    retentionDays = 0,
    bytes = 100,
    streamFields = ['app'],
  }: { offset: number; appendedAt: number; tenantId?: number; retentionDays?: number; bytes?: number; streamFields?: readonly string[] },
): KafkaMessage {
  const writer = new EntryWriter(
    codec,
    { tenantId, partitions: [0], retentionDays, receivedAt: BigInt(appendedAt) * 1_000_000n, streamFields },
    10_000,
  );
  for (const entry of entries) {
    const line = Buffer.from(JSON.stringify(entry));
    writer.object(line, 0, line.length);
  }
  const [chunk] = writer.chunks();
  const { value, headers } = chunk?.encode() ?? { value: Buffer.alloc(0), headers: {} };
  const info = { tenantId, retentionDays, count: writer.accepted, bytes, encoding: 'columns' };
  return message(offset, appendedAt, { value, headers: encodeHeaders(logsSignal, info, headers) });
}

/** A tick, and maybe what it says to a processor; of the log, unless another signal is named. */
export const tickMessage = (
  offset: number,
  appendedAt: number,
  setting?: Setting,
  signal: Parameters<typeof encodeTick>[0] = logsSignal,
): KafkaMessage => message(offset, appendedAt, encodeTick(signal, setting === undefined ? {} : { [SETTING]: settingText(setting) }));

const message = (offset: number, appendedAt: number, { value, headers }: Pick<KafkaMessage, 'value' | 'headers'>): KafkaMessage =>
  ({ key: null, attributes: 0, offset: String(offset), timestamp: String(appendedAt), value, headers }) as KafkaMessage;
