import type { Intake } from '../intake/rows.ts';
import { logsSignal } from './logs-signal.ts';
import type { FieldRules } from './field-rules.ts';
import { fieldRulesOf, streamFieldsOf } from './request-fields.ts';
import { EntryCodec, EntryWriter } from './writer.ts';

/** What a request says of fields, and what each entry gets in any case: that comes last, so nothing of a request replaces it. */
function withAdded(rules: FieldRules | null, added: readonly (readonly [string, string])[]): FieldRules | null {
  if (added.length === 0) return rules;
  const { messages = [], times = [], ignored = [], extra = [] } = rules ?? {};
  return { messages, times, ignored, extra: [...extra, ...added] };
}

/** How requests become log entries. What their writers share is made once. */
export function createLogsIntake(): Intake<EntryWriter> {
  const codec = new EntryCodec();
  return {
    signal: logsSignal,
    unit: 'entries',
    writer: ({ envelope, expectedBytes, labels, ...options }) => {
      const added = Object.entries(labels ?? {});
      const fieldRules = withAdded(fieldRulesOf(envelope), added);
      const named = { streamFields: streamFieldsOf(envelope), fieldRules, ...(added.length === 0 ? {} : { added }) };
      return new EntryWriter(codec, { ...options, ...named }, expectedBytes);
    },
  };
}
