import { expect } from 'chai';
import {
  encodeGuard,
  encodeNode,
  encodeSnapshot,
  guardKey,
  nodeKey,
  parseUsageRecord,
  partitionKey,
} from '../../../../pipeline/bus/state/usage-records.ts';

const days = new Map([[20_777, new Map([[1, 500], [2, 7]])]]); // prettier-ignore

describe('records of usage.v1', () => {
  it('come back as they were', () => {
    const snapshot = { next: 12, days };
    expect(parseUsageRecord(partitionKey(3), encodeSnapshot(snapshot))).to.deep.equal({ kind: 'partition', partition: 3, snapshot });
    const usage = { seq: 4, entries: new Map([[1, 10]]), unreflected: [{ partition: 0, last: 7, days }] };
    expect(parseUsageRecord(nodeKey('a:b'), encodeNode(usage))).to.deep.equal({ kind: 'node', id: 'a:b', usage });
    expect(parseUsageRecord(guardKey('g'), encodeGuard('full', new Date(0)))).to.deep.equal({ kind: 'guard', id: 'g', full: 'full' });
    expect(parseUsageRecord(guardKey('g'), encodeGuard(null, new Date(0)))).to.deep.equal({ kind: 'guard', id: 'g', full: null });
  });

  for (const [key, value] of [
    ['partition:0', null],
    ['partition:0', '{'],
    ['partition:0', 'null'],
    ['partition:0', '{"next":-1,"days":[]}'],
    ['partition:0', '{"next":1}'],
    ['partition:x', '{"next":1,"days":[]}'],
    ['partition:', '{"next":1,"days":[]}'],
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
