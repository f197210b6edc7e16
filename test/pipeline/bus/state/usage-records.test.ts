import { expect } from 'chai';
import {
  deltaKey,
  encodeDelta,
  encodeGuard,
  encodeNode,
  encodeSnapshot,
  guardKey,
  nodeKey,
  parseSnapshot,
  parseUsageRecord,
  partitionKey,
} from '../../../../pipeline/bus/state/usage-records.ts';

const days = new Map([[20_777, new Map([[1, 500], [2, 7]])]]); // prettier-ignore

describe('records of usage.v1', () => {
  const place = { topic: 'logs.v1', partition: 3 };
  const spans = { topic: 'spans.v1', partition: 3 };

  it('come back as they were', () => {
    const snapshot = { next: 12, days };
    const delta = { since: 9, ...snapshot };
    for (const own of [place, spans]) {
      expect(parseUsageRecord(partitionKey(own), encodeSnapshot(snapshot))).to.deep.equal({ kind: 'partition', ...own, snapshot });
      expect(parseUsageRecord(deltaKey(own, 130), encodeDelta(delta))).to.deep.equal({ kind: 'delta', ...own, delta });
    }
    const charged = new Map([['logs.v1', new Map([[1, 10]])], ['spans.v1', new Map([[1, 3]])]]); // prettier-ignore
    const calls = new Map([['queries/1/a', 3], ['__proto__', 1]]); // prettier-ignore
    const usage = { seq: 4, charged, calls, unreflected: [{ ...spans, last: 7, days }] };
    expect(parseUsageRecord(nodeKey('a:b'), encodeNode(usage))).to.deep.equal({ kind: 'node', id: 'a:b', usage });
    for (const report of [
      { full: 'full', topics: {} },
      { full: null, topics: { 'spans.v1': 'late' } },
    ])
      expect(parseUsageRecord(guardKey('g'), encodeGuard(report, new Date(0)))).to.deep.equal({ kind: 'guard', id: 'g', ...report });
  });

  it('of the first version, which knew one topic, are read', () => {
    const text = '[[20777,[[1,500],[2,7]]]]';
    const snapshot = { next: 12, days };
    expect(parseUsageRecord('partition:3', `{"next":12,"days":${text}}`)).to.deep.equal({ kind: 'partition', ...place, snapshot });
    const delta = { since: 9, ...snapshot };
    expect(parseUsageRecord('delta:3:127', `{"since":9,"next":12,"days":${text}}`)).to.deep.equal({ kind: 'delta', ...place, delta });
    const node = `{"seq":4,"entries":[[1,10]],"unreflected":[{"partition":3,"last":7,"days":${text}}]}`;
    const usage = {
      seq: 4,
      charged: new Map([['logs.v1', new Map([[1, 10]])]]),
      calls: new Map(),
      unreflected: [{ ...place, last: 7, days }],
    };
    expect(parseUsageRecord('node:a', node)).to.deep.equal({ kind: 'node', id: 'a', usage });
    expect(parseUsageRecord('guard:g', '{"full":"full","at":"1970"}')).to.deep.equal({ kind: 'guard', id: 'g', full: 'full', topics: {} });
    expect(parseSnapshot(`{"next":0,"days":${text}}`)).to.deep.equal({ next: 0, days });
  });

  for (const [key, value] of [
    ['partition:0', null],
    ['partition:0', '{'],
    ['partition:0', 'null'],
    ['partition:0', '{"next":-1,"days":[]}'],
    ['partition:0', '{"next":1}'],
    ['partition:x', '{"next":1,"days":[]}'],
    ['partition:', '{"next":1,"days":[]}'],
    ['partition:0', '{"v":3,"next":1,"days":[]}'],
    ['node:a', '{"v":2,"seq":1,"charged":{},"calls":{},"unreflected":[]}'],
    ['node:a', '{"v":2,"seq":1,"charged":{},"calls":[[1,1]],"unreflected":[]}'],
    ['node:a', '{"v":2,"seq":1,"charged":{},"calls":[["a",-1]],"unreflected":[]}'],
    ['delta:0', '{"since":0,"next":1,"days":[]}'],
    ['delta:a:b', '{"since":0,"next":1,"days":[]}'],
    ['partition:a b:0', '{"next":1,"days":[]}'],
    ['node:a', '{"v":2,"seq":1,"charged":{"a":{}},"unreflected":[]}'],
    ['guard:a', '{"full":null,"topics":{"a":1}}'],
    ['node:a', '{"seq":1,"entries":{},"unreflected":[]}'],
    ['node:a', '{"seq":1,"entries":[],"unreflected":[null]}'],
    ['node:a', '{"seq":1,"entries":[],"unreflected":[{"partition":0,"last":"1","days":[]}]}'],
    ['guard:a', '{"full":1}'],
    ['guard:a', '{}'],
    ['other:a', '{"full":null}'],
    ['guard', '{"full":null}'],
  ] as const)
    it(`are not ${key} ${String(value)}`, () => expect(parseUsageRecord(key, value)).to.equal(null));
});
