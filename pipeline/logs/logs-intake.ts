import type { Intake } from '../intake/rows.ts';
import { logsSignal } from './logs-signal.ts';
import { fieldRulesOf, streamFieldsOf } from './request-fields.ts';
import { EntryCodec, EntryWriter } from './writer.ts';

/** How requests become log entries. What their writers share is made once. */
export function createLogsIntake(): Intake<EntryWriter> {
  const codec = new EntryCodec();
  return {
    signal: logsSignal,
    unit: 'entries',
    writer: ({ envelope, expectedBytes, ...options }) =>
      new EntryWriter(codec, { ...options, streamFields: streamFieldsOf(envelope), fieldRules: fieldRulesOf(envelope) }, expectedBytes),
  };
}
