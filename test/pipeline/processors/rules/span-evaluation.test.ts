import { expect } from 'chai';
import fc from 'fast-check';
import { parseQuery } from '../../../../logsql/parser/parser.ts';
import type { LogEntry } from '../../../../pipeline/core/entry.ts';
import { textOf } from '../../../../pipeline/core/entry.ts';
import { formatTime } from '../../../../pipeline/core/time.ts';
import { partialRows } from '../../../../pipeline/processors/base/json.ts';
import { hostedProcessor } from '../../../../pipeline/processors/merge/partials.ts';
import { Aggregate, type AggregateJson } from '../../../../pipeline/processors/rules/aggregate.ts';
import { DDSketch } from '../../../../pipeline/processors/rules/ddsketch.ts';
import { HyperLogLog } from '../../../../pipeline/processors/base/hyperloglog.ts';
import { compileRule, type CompiledRule } from '../../../../pipeline/processors/rules/rule.ts';
import { ruleKey, RULES } from '../../../../pipeline/processors/rules/rules-fold.ts';
import type { RulesRow } from '../../../../pipeline/processors/rules/rules-partial.ts';
import { spanRules } from '../../../../pipeline/processors/rules/span-rules.ts';
import { spanInputOf } from '../../../../pipeline/processors/spans/span-input.ts';
import { spansSignal } from '../../../../pipeline/traces/spans-signal.ts';
import { KINDS, spanLayout, STATUSES, type SpanRow } from '../../../../pipeline/traces/span.ts';
import { spansMessage, spansValue, type PlainSpan } from '../../../fakes/span-rows.ts';
import { EVERYTHING } from '../../../logsql/support.ts';
import { tickMessage } from '../inputs.ts';
import { ruleOf, START } from '../../alerting/rules/rule-world.ts';
import { extent } from '../../../extent.ts';

const LONG = 'x'.repeat(3000);
const attribute = fc.constantFrom(
  ['http.status', '500', 'i'],
  ['http.status', '200', 'i'],
  ['user.id', 'u7', 's'],
  ['ratio', '0.5', 'd'],
  ['ok', 'true', 'b'],
  ['status', 'mine', 's'],
  ['resource.x', 'own', 's'],
  ['scope.attributes.lib', 'own', 's'],
) as fc.Arbitrary<readonly [string, string, string]>;
const resource = fc.constantFrom(
  { resource: '', longResource: '' },
  { resource: '{"service.name":"web","host.name":"h1"}', longResource: '' },
  { resource: '{"host.name":"h\\"2","cpu":"4"}', longResource: '' },
  { resource: '', longResource: `{"host.name":"h1","note":"${LONG}"}` },
);
const span = fc
  .record({
    id: fc.integer({ min: 1, max: 40 }),
    trace: fc.integer({ min: 1, max: 5 }),
    parent: fc.constantFrom(0, 1),
    service: fc.constantFrom('web', 'cart', 'ü', ''),
    name: fc.constantFrom('GET /cart', 'db query', 'x'),
    kind: fc.integer({ min: 0, max: 5 }),
    isError: fc.boolean(),
    duration: fc.constantFrom(0n, 1500n, 400_000_000n, 2n ** 62n),
    attributes: fc.uniqueArray(attribute, { maxLength: 4, selector: ([name]) => name }),
    resource,
    texts: fc.constantFrom(
      {},
      { statusMessage: 'boom', traceState: 'a=b' },
      { scope: 'lib', scopeVersion: '1.2', events: '[{"name":"e"}]', links: '[]' },
      {
        scope: 'lib',
        context:
          '{"scopeAttributes":[{"key":"lib","value":{"stringValue":"l\\"1"}},{"key":"n","value":{"intValue":"4"}},{"key":"lib","value":{"boolValue":true}}],"scopeDropped":1}',
      },
      { context: '{"scopeSchemaUrl":"https://x"}' },
    ),
  })
  .map(({ attributes, resource: own, texts, ...plain }): PlainSpan => ({
    ...plain,
    more: {
      ...texts,
      ...own,
      attributes: attributes.map(([name, value]) => [name, value] as const),
      attributeTypes: attributes.map(([, , type]) => type).join(''),
    },
  }));
const bodies = fc.array(fc.array(span, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 5 });

const FIELDS = new Set(['_time', '_stream', '_msg', 'trace_id', 'span_id', 'parent_span_id', 'name', 'service', 'kind', 'status', 'status_message', 'duration', 'trace_state', 'scope.name', 'scope.version', 'events', 'links']); // prettier-ignore

/** A span as docs/traces-query.md says that a search sees it. */
function entryOf(row: SpanRow): LogEntry {
  const json = row.longResource === '' ? row.resource : row.longResource;
  const isReserved = (name: string): boolean =>
    FIELDS.has(name) || name.startsWith('resource.') || name.startsWith('scope.attributes.') || name.startsWith('attributes.');
  const all: [string, string][] = [
    ['_time', formatTime(row.time)],
    ['_stream', row.service === '' ? '{}' : `{service="${row.service}"}`],
    ['_msg', row.name],
    ['trace_id', row.traceId.toString('hex')],
    ['span_id', row.spanId.toString('hex')],
    ['parent_span_id', row.parentSpanId.toString('hex').replace(/^0+$/, '')],
    ['name', row.name],
    ['service', row.service],
    ['kind', KINDS[row.kind] ?? ''],
    ['status', STATUSES[row.status] ?? ''],
    ['status_message', row.statusMessage],
    ['duration', String(row.duration)],
    ['trace_state', row.traceState],
    ['scope.name', row.scope],
    ['scope.version', row.scopeVersion],
    ['events', row.events],
    ['links', row.links],
    ...row.attributes.map(([name, value]): [string, string] => [isReserved(name) ? `attributes.${name}` : name, value]),
    ...Object.entries(json === '' ? {} : (JSON.parse(json) as Record<string, string>)).map(([name, value]): [string, string] => [`resource.${name}`, value]), // prettier-ignore
    ...(row.context.includes('"lib"') ? ([['scope.attributes.lib', 'l"1'], ['scope.attributes.n', '4']] as [string, string][]) : []), // prettier-ignore
  ];
  return new Map(all.filter(([, value]) => value !== ''));
}

const keyOf = (labels: readonly string[]): string => JSON.stringify(labels);

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
  messages: readonly ReturnType<typeof spansMessage>[],
  cuts: readonly number[],
): Map<string, Aggregate> {
  const stage = hostedProcessor(spanRules);
  let state = stage.init();
  const found = new Map<string, Aggregate>();
  const setting = { processor: RULES, tenantId: 1, key: ruleKey(1), value: compiled.rule as never, version: 1 };
  const inputs = [
    tickMessage(0, START - 1, setting, spansSignal),
    ...messages,
    tickMessage(messages.length + 1, START + 3_600_000, undefined, spansSignal),
  ];
  inputs.forEach((message, index) => {
    for (const { value } of stage.fold(state, spanInputOf(0, message)))
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

const QUERIES: readonly (readonly [string, number])[] = [
  ['* | stats count()', 0],
  ['status:error kind:in(server, client) | stats by (service) count()', 0],
  ['name:="GET /cart" or "db" | stats by (name, kind) count() if (duration:>300ms)', 0],
  ['{service="cart"} duration:range[1ms, 1s] | stats sum(duration)', 0],
  ['http.status:>=500 | stats by (service) avg(http.status)', 0],
  ['attributes.status:=mine !attributes.resource.x:* | stats count(user.id)', 0],
  ['resource.host.name:="h1" | stats by (resource.host.name) count()', 0],
  ['resource.note:* | stats by (_stream) count()', 0],
  ['scope.attributes.lib:=l"1 or scope.attributes.n:>3 | stats by (scope.attributes.lib) count()', 0],
  ['!scope.attributes.lib:* attributes.scope.attributes.lib:=own | stats count()', 0],
  ['parent_span_id:"" trace_id:=00000000000000000000000000000002 | stats by (span_id) count()', 0],
  ['status_message:boom trace_state:="a=b" or scope.name:=lib scope.version:1.2 or events:name | stats count()', 0],
  ['nosuch:x or user.id:=u7 | stats by (nosuch) count()', 0],
  ['_time:day_range[00:00, 12:00] | stats count()', 0],
  ['http.status:* | stats by (service) quantile(0.9, http.status)', DDSketch.error],
  ['* | stats by (service) count_uniq(trace_id, name)', 5 * HyperLogLog.error],
];

describe('what a rule over spans evaluates', () => {
  for (const [query, error] of QUERIES)
    it(`is what a search's stats give: ${query}`, () => {
      const compiled = compileRule(ruleOf({ signal: 'spans', query, every: '1h' }));
      if (typeof compiled === 'string') throw new Error(compiled);
      fc.assert(
        fc.property(bodies, fc.array(fc.nat(8), { maxLength: 3 }), (sent, cuts) => {
          const timed = sent.map((spans, index) =>
            spans.map((one, at) => ({ ...one, time: BigInt(START + 60_000 * index + at) * 1_000_000n })),
          );
          const messages = timed.map((spans, index) =>
            spansMessage(spans, { offset: index + 1, appendedAt: START + 60_000 * (index + 1) }),
          );
          const rows = timed.flatMap((spans) => spanLayout.read(spansValue(spans), spans.length) as SpanRow[]);
          const expected = statsOf(query, rows.map(entryOf), compiled.by);
          const found = ruled(compiled, messages, cuts);
          expect(found.keys()).to.satisfy((keys: Iterable<string>) => [...keys].every((key) => expected.has(key)));
          for (const [key, text] of expected) {
            const value = found.get(key)?.value(60) ?? null;
            const wanted = text === '' || text === 'NaN' ? null : Number(text);
            if (wanted === null || value === null) expect(value === null || value === 0 ? (wanted ?? 0) : value, text).to.equal(0);
            else expect(Math.abs(value - wanted), `${String(value)} ${text}`).to.be.at.most(1.0001 * error * Math.abs(wanted));
          }
        }),
        { numRuns: extent(12, 30) },
      );
    });

  it('passes over a record whose columns behind the ninth cannot be read', () => {
    const stage = hostedProcessor(spanRules);
    const state = stage.init();
    const value = ruleOf({ signal: 'spans', query: '* | stats count()' });
    stage.fold(
      state,
      spanInputOf(0, tickMessage(0, START, { processor: RULES, tenantId: 1, key: ruleKey(1), value, version: 1 }, spansSignal)),
    );
    const good = spansMessage([{ id: 1, service: 'web' }], { offset: 1, appendedAt: START + 1000 });
    fc.assert(
      fc.property(fc.nat(), fc.uint8Array({ maxLength: 20 }), (at, bytes) => {
        const own = good.value as Buffer;
        const cut = Buffer.concat([own.subarray(0, at % own.length), bytes]);
        stage.fold(state, spanInputOf(0, { ...good, value: cut }));
      }),
    );
    expect(stage.restore(stage.snapshot(state))).to.not.equal(null);
  });
});
