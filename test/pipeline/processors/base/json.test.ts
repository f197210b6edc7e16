import { expect } from 'chai';
import { HyperLogLog } from '../../../../pipeline/processors/base/hyperloglog.ts';
import { jsonPartials, jsonState, partialRows } from '../../../../pipeline/processors/base/json.ts';
import { MAX_PARTIAL_BYTES } from '../../../../pipeline/processors/base/partial.ts';

describe('a state as JSON', () => {
  const state = jsonState(() => ({ since: 0, names: new Map<string, unknown>(), list: [] as unknown[] }));

  it('comes back with its Maps and sketches', () => {
    const sketch = HyperLogLog.of(['a', 'b']);
    const full = { since: 5, names: new Map<string, unknown>([['__proto__', new Map([[1, sketch]])], ['$map', '$sketch']]), list: [null, true] }; // prettier-ignore
    const back = state.restore(state.snapshot(full));
    expect(back).to.deep.equal(full);
    expect((back?.names.get('__proto__') as Map<number, HyperLogLog> | undefined)?.get(1)?.count()).to.equal(sketch.count());
  });

  it('is none where it is no JSON, or not such a state', () => {
    for (const bad of [
      '',
      '{',
      'null',
      '5',
      '[]',
      '{}',
      '{"since":0}',
      '{"since":"0","names":{"$map":[]},"list":[]}',
      '{"since":0,"names":{},"list":[]}',
      '{"since":0,"names":{"$map":5},"list":[]}',
      '{"since":0,"names":{"$map":[]},"list":{}}',
      '{"since":0,"names":{"$map":[]},"list":[{"$sketch":"AAAA"}]}',
    ])
      // prettier-ignore
      expect(state.restore(Buffer.from(bad)), bad).to.equal(null);
    expect(state.restore(Buffer.from('{"since":0,"names":{"$map":[]},"list":[]}'))).to.deep.equal(state.init());
  });
});

describe('rows in partials', () => {
  const whose = { tenantId: 3, retentionDays: 14, offset: 5 };

  it('come back, in as many partials as it takes', () => {
    const rows = Array.from({ length: 3000 }, (_none, n) => [n, 'ü☃'.repeat(100)]);
    const partials = jsonPartials(whose, rows);
    expect(partials.length).to.be.above(3);
    for (const { value, ...rest } of partials) {
      expect(value.length).to.be.at.most(MAX_PARTIAL_BYTES);
      expect(rest).to.deep.equal({ kind: 'partial', tenantId: 3, retentionDays: 14 });
    }
    expect(partials.flatMap((partial) => partialRows(partial))).to.deep.equal(rows);
  });

  it('are no partial where there are none', () => {
    expect(jsonPartials(whose, [])).to.deep.equal([]);
  });
});
