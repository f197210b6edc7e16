import { expect } from 'chai';
import fc from 'fast-check';
import { parseQuery } from '../../../../logsql/parser/parser.ts';
import { DDSketch } from '../../../../pipeline/processors/rules/ddsketch.ts';
import { HyperLogLog } from '../../../../pipeline/processors/base/hyperloglog.ts';
import type { LogEntry } from '../../../../pipeline/core/entry.ts';
import { textOf } from '../../../../pipeline/core/entry.ts';
import { entriesIn } from '../../../../pipeline/logs/columns/row-reader.ts';
import { inputOf } from '../../../../pipeline/processors/base/input.ts';
import { partialRows } from '../../../../pipeline/processors/base/json.ts';
import type { Batch } from '../../../../pipeline/processors/base/processor.ts';
import { Aggregate, type AggregateJson } from '../../../../pipeline/processors/rules/aggregate.ts';
import { compileRule, type CompiledRule } from '../../../../pipeline/processors/rules/rule.ts';
import type { RulesRow } from '../../../../pipeline/processors/rules/rules-partial.ts';
import { hostedProcessor } from '../../../../pipeline/processors/merge/partials.ts';
import { rules } from '../../../../pipeline/processors/rules/rules.ts';
import { ruleKey } from '../../../../pipeline/processors/rules/rules-fold.ts';
import { EVERYTHING } from '../../../logsql/support.ts';
import { logMessage, tickMessage } from '../inputs.ts';
import { ruleOf, START } from '../../alerting/rules/rule-world.ts';
import { extent } from '../../../extent.ts';

const entry = fc.record(
  {
    _msg: fc.constantFrom('payment declined', 'GET /cart 200', 'timeout after 30ms', 'x'),
    service: fc.constantFrom('web', 'checkout', 'ü'),
    level: fc.constantFrom('info', 'error', 'ERROR'),
    status: fc.constantFrom(200, 404, 500, 503),
    duration_ms: fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.double({ min: 0.001, max: 900, noNaN: true }), fc.constantFrom('12ms', '1.5s', 'long')),
    user: fc.constantFrom('u1', 'u2', 'u3'),
    trace_id: fc.constantFrom('', 'abc'),
  },
  { requiredKeys: ['_msg', 'service'] },
); // prettier-ignore
const bodies = fc.array(fc.array(entry, { minLength: 1, maxLength: 15 }), { minLength: 1, maxLength: 6 });

/** Entries as a search sees them. */
function searched(messages: readonly ReturnType<typeof logMessage>[]): LogEntry[] {
  return messages.flatMap((message) => {
    const { columns, streams } = inputOf(0, message) as Batch;
    const texts = new Map([...streams.toMap()].map(([id, { text }]) => [id, text]));
    return entriesIn(message.value as Buffer, columns?.count ?? 0, (id) => texts.get(id) ?? '{}');
  });
}

const keyOf = (labels: readonly string[]): string => JSON.stringify(labels);

/** What a search's stats give, by group. */
function statsOf(query: string, entries: readonly LogEntry[], by: readonly string[]): Map<string, string> {
  const { filter, pipes } = parseQuery(query, { now: 0n });
  const stage = pipes[0]?.stage(EVERYTHING);
  for (const row of entries) if (filter.matches(row)) stage?.push(row);
  return new Map(
    [...(stage?.flush() ?? [])].map((row) => [keyOf(by.map((field) => textOf(row.get(field)))), textOf([...row.values()].at(-1))]),
  );
}

/** What the processor tells, by group, added up over all partials; it begins again at each cut. */
function ruled(
  compiled: CompiledRule,
  messages: readonly ReturnType<typeof logMessage>[],
  cuts: readonly number[],
): Map<string, Aggregate> {
  const stage = hostedProcessor(rules);
  let state = stage.init();
  const found = new Map<string, Aggregate>();
  const setting = { processor: rules.name, tenantId: 1, key: ruleKey(1), value: compiled.rule as never, version: 1 };
  const last = START + 3_600_000;
  const inputs = [tickMessage(0, START - 1, setting), ...messages, tickMessage(messages.length + 1, last)];
  inputs.forEach((message, index) => {
    for (const { value } of stage.fold(state, inputOf(0, message)))
      for (const row of partialRows({ value }) as readonly RulesRow[]) {
        if (row.kind !== 'group') continue;
        const sum = found.get(keyOf(row.labels)) ?? new Aggregate(compiled.measure);
        sum.merge(JSON.parse(JSON.stringify(row.aggregate)) as AggregateJson);
        found.set(keyOf(row.labels), sum);
      }
    if (cuts.includes(index)) state = stage.restore(stage.snapshot(state)) ?? stage.init();
  });
  return found;
}

/** A query, and how far a value may be from that of a search: a part of it. */
const QUERIES: readonly (readonly [string, number])[] = [
  ['* | stats count()', 0],
  ['level:error or status:>=500 | stats by (service) count()', 0],
  ['* | stats by (service, level) count() if (status:>=500)', 0],
  ['{service="checkout"} | stats count(duration_ms, trace_id)', 0],
  ['{service=~"w.*|ü"} !"declined" | stats by (_stream) sum(duration_ms)', 0],
  ['~"(timeout|declined)" duration_ms:>5 | stats avg(duration_ms)', 0],
  ['service:in(web, checkout) status:* | stats by (user) max(status)', 0],
  ['status:* (i(PAYMENT) or _msg:x) | stats min(status)', 0],
  ['nosuch:x or trace_id:=abc | stats by (nosuch) count()', 0],
  ['!nosuch:x level:!=info | stats sum(status) if (user:u1 or user:"")', 0],
  ['_time:day_range[00:00, 12:00] | stats count()', 0],
  ['_fingerprint:3b30432dd3257db4659d7e27b87b9413e1bfb6bbb3d7f3456979f14b85d57ec7 | stats by (service) count()', 0],
  ['status:* | stats by (service) quantile(0.9, status)', DDSketch.error],
  ['status:* | stats median(status)', DDSketch.error],
  ['* | stats by (service) count_uniq(user, status)', 5 * HyperLogLog.error],
];

describe('what a rule evaluates', () => {
  for (const [query, error] of QUERIES)
    it(`is what a search's stats give: ${query}`, () => {
      const compiled = compileRule(ruleOf({ query, every: '1h' }));
      if (typeof compiled === 'string') throw new Error(compiled);
      fc.assert(
        fc.property(bodies, fc.array(fc.nat(8), { maxLength: 3 }), (sent, cuts) => {
          const messages = sent.map((entries, index) =>
            logMessage(
              entries.map((one, at) => ({ _time: new Date(START + 60_000 * index + at).toISOString(), ...one })),
              { offset: index + 1, appendedAt: START + 60_000 * (index + 1), streamFields: ['service'] },
            ),
          );
          const expected = statsOf(query, searched(messages), compiled.by);
          const found = ruled(compiled, messages, cuts);
          expect(found.keys()).to.satisfy((keys: Iterable<string>) => [...keys].every((key) => expected.has(key)));
          for (const [key, text] of expected) {
            const value = found.get(key)?.value(60) ?? null;
            // nothing that has a value: empty or NaN in a search
            const wanted = text === '' || text === 'NaN' ? null : Number(text);
            if (wanted === null || value === null) expect(value === null || value === 0 ? (wanted ?? 0) : value, text).to.equal(0);
            else expect(Math.abs(value - wanted), `${String(value)} ${text}`).to.be.at.most(1.0001 * error * Math.abs(wanted));
          }
        }),
        { numRuns: extent(12, 30) },
      );
    });
});
