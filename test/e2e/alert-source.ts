import { pino } from 'pino';
import { embeddedEngines } from '../../main/engines.ts';
import { alertRow, type Alert, alertRecords } from '../../pipeline/alerting/book/alert.ts';
import { AbsoluteWriter } from '../../pipeline/bus/producer/absolute-record.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { loadConfig } from '../../pipeline/core/config.ts';
import type { Instance } from './instance.ts';

/** Puts an alert onto the log of an instance as who finds alerts does: tests need not wait until something is found. */
export function alertTeller(instance: Instance): { tell(alert: Alert, version: number): Promise<void>; close(): Promise<void> } {
  const { kafka } = loadConfig({ ...instance.env, ...embeddedEngines(instance.env) });
  const writer = new AbsoluteWriter(createKafka({ ...kafka, clientId: 'test', log: pino({ level: 'silent' }) }));
  return { tell: (alert, version) => writer.write(alertRecords(0, [alertRow(alert, version)])), close: () => writer.close() };
}
