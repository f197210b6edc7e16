import { expect } from 'chai';
import { jaegerSpan, jaegerTraceId, Processes } from '../../../../api/traces/jaeger/span-json.ts';
import { storedSpan } from '../../../fakes/stored-span.ts';
import { spanId, SPANS_AT, traceId } from '../../../fakes/stored-spans.ts';

const shown = (given: Parameters<typeof storedSpan>[0]): ReturnType<typeof jaegerSpan> => jaegerSpan(storedSpan(given), new Processes());
const string = (key: string, value: string): object => ({ key, type: 'string', value });

describe("spans in Jaeger's JSON", () => {
  it('have these members', () => {
    expect(shown({ duration: 1_999n, parentId: spanId(9), scope: 'lib', scopeVersion: '1' })).to.deep.equal({
      ...{ traceID: traceId(1), spanID: spanId(1), operationName: 'GET /', startTime: Number(SPANS_AT / 1000n), duration: 1 },
      references: [{ refType: 'CHILD_OF', traceID: traceId(1), spanID: spanId(9) }],
      tags: [string('otel.scope.name', 'lib'), string('otel.scope.version', '1'), string('span.kind', 'server')],
      ...{ logs: [], processID: 'p1', warnings: null },
    });
  });

  it('have tags with types, attributes by name, then those of kind, status and state', () => {
    const pairs = [['s', '<a>'], ['b', 'true'], ['i', '5'], ['big', '9223372036854775807'], ['d', '0.5'], ['y', 'AQI='], ['n', ''], ['list', '["<a>",2,1.0,9007199254740993]'], ['map', '{"b":1,"a":{"x":null}}']] as const; // prettier-ignore
    const { tags } = shown({ attributes: { pairs, types: 'sbiidynvv' }, kind: 3, status: 2, statusMessage: 'no', traceState: 'k=v' });
    expect(tags).to.deep.equal([
      { key: 'b', type: 'bool', value: true },
      { key: 'big', type: 'int64', value: '9223372036854775807' },
      { key: 'd', type: 'float64', value: 0.5 },
      { key: 'i', type: 'int64', value: 5 },
      string('list', '["\\u003ca\\u003e",2,1,9007199254740993]'),
      string('map', '{"a":{"x":null},"b":1}'),
      string('n', ''),
      string('s', '<a>'),
      { key: 'y', type: 'binary', value: 'AQI=' },
      ...[string('span.kind', 'client'), string('otel.status_code', 'ERROR'), { key: 'error', type: 'bool', value: true }],
      ...[string('otel.status_description', 'no'), string('w3c.tracestate', 'k=v')],
    ]);
    expect(shown({ kind: 0, status: 1 }).tags).to.deep.equal([string('otel.status_code', 'OK')]);
  });

  it('have logs of events by time, with their names as a field', () => {
    const attributes = [{ key: 'b', value: { intValue: '1' } }, { key: 'a', value: { stringValue: 'x' } }]; // prettier-ignore
    const events = JSON.stringify([{ timeUnixNano: '2000', name: 'late', attributes }, { timeUnixNano: '1000', name: 'own', attributes: [{ key: 'event', value: { stringValue: 'e' } }] }, { timeUnixNano: '1500' }]); // prettier-ignore
    expect(shown({ events }).logs).to.deep.equal([
      { timestamp: 1, fields: [string('event', 'e')] },
      { timestamp: 1, fields: [] },
      { timestamp: 2, fields: [string('event', 'late'), string('a', 'x'), { key: 'b', type: 'int64', value: 1 }] },
    ]);
  });

  it('have links as references, the parent first; one to the parent says what it is', () => {
    const to = (id: string, attributes: readonly object[] = []): object => ({ traceId: traceId(1).toUpperCase(), spanId: id, attributes });
    const child = [{ key: 'opentracing.ref_type', value: { stringValue: 'child_of' } }];
    const refs = (links: readonly object[], parentId = spanId(9)): unknown =>
      shown({ parentId, links: JSON.stringify(links) }).references.map(({ refType, spanID }) => [refType, spanID]);
    expect(refs([to(spanId(3)), to(spanId(4), child)])).to.deep.equal([['CHILD_OF', spanId(9)], ['FOLLOWS_FROM', spanId(3)], ['CHILD_OF', spanId(4)]]); // prettier-ignore
    expect(refs([to(spanId(9))])).to.deep.equal([['FOLLOWS_FROM', spanId(9)]]);
    expect(refs([{ attributes: child }], '')).to.deep.equal([]);
  });

  it('share processes, whose tags are the attributes of their resources but the service', () => {
    const processes = new Processes();
    const of = (resource: string, resourceTypes: string, service = 'web'): string =>
      processes.nameOf(storedSpan({ resource, resourceTypes, service }));
    expect([
      of('{"service.name":"web","z":"1","a":"2"}', 'sis'),
      of('{"a":"2","service.name":"web","z":"1"}', 'ssi'),
      of('', '', ''),
      of('{"a":"2"}', 's', ''),
    ]).to.deep.equal(['p1', 'p1', 'p2', 'p3']);
    expect(JSON.parse(processes.json)).to.deep.equal({
      p1: { serviceName: 'web', tags: [string('a', '2'), { key: 'z', type: 'int64', value: 1 }] },
      p2: { serviceName: 'missing-service-name', tags: [] },
      p3: { serviceName: 'missing-service-name', tags: [string('a', '2')] },
    });
  });

  it('show ids of 64 bits with 16 digits', () => {
    expect(jaegerTraceId(`${'0'.repeat(16)}${spanId(1)}`)).to.equal(spanId(1));
    expect(jaegerTraceId(traceId(1))).to.equal(traceId(1));
  });
});
