import { expect } from 'chai';
import { fixedBytes, floatBits, seconds, uint8 } from '../../../pipeline/rows/fixed-types.ts';
import { isPositive, Layout } from '../../../pipeline/rows/layout.ts';
import { bytes, word } from '../../../pipeline/rows/string-types.ts';

type Row = { readonly kind: number; readonly until: number; readonly label: string };

const layout = new Layout<Row>('trial', [
  { name: 'kind', type: uint8, member: 'kind', isGood: isPositive },
  { name: 'until', type: seconds, member: 'until', isGood: (until, row, { kind }) => until >= kind(row) },
  { name: 'label', type: word, member: 'label' },
]);
const row: Row = { kind: 1, until: 2, label: 'x' };

describe('a layout', () => {
  it('has the members that all rows share', () => {
    const value = layout.encode([{ until: 1 }, { until: 2 }], { kind: 1, label: '' });
    expect(layout.read(value, 2)).to.deep.equal([
      { kind: 1, until: 1, label: '' },
      { kind: 1, until: 2, label: '' },
    ]);
  });

  it('reads columns without making rows, and rows that stay when the next record is read', () => {
    const view = layout.view(layout.encode([row, { ...row, label: 'y' }]), 2);
    if (typeof view === 'string') throw new Error(view);
    expect([view.label(0), view.label(1), view.until(1)]).to.deep.equal(['x', 'y', 2]);
    const raw = new Layout<{ readonly body: Buffer; readonly id: Buffer }>('raw', [
      { name: 'body', type: bytes, member: 'body' },
      { name: 'id', type: fixedBytes(2), member: 'id' },
    ]);
    const rowOf = (text: string): { body: Buffer; id: Buffer } => ({ body: Buffer.from(text), id: Buffer.from(text.slice(0, 2)) });
    const first = raw.read(raw.encode([rowOf('abc')]), 1);
    expect(raw.read(raw.encode([rowOf('xyz')]), 1)).to.deep.equal([rowOf('xyz')]);
    expect(first).to.deep.equal([rowOf('abc')]);
  });

  it('says which column has a value that cannot be, by itself or next to others', () => {
    const wrong = (name: string): string => `column ${name} has a value that cannot be`;
    expect(layout.check(layout.encode([row]), 1)).to.equal(null);
    expect(layout.check(layout.encode([row, { ...row, kind: 0 }]), 2)).to.equal(wrong('kind'));
    expect(layout.check(layout.encode([row, { ...row, kind: 3 }]), 2)).to.equal(wrong('until'));
  });

  it('writes nothing that it would not read, and nothing of what it did not write gets into the next record', () => {
    for (const bad of [256, -1, 0.5, NaN]) expect(() => layout.encode([{ ...row, kind: bad }])).to.throw('BUG: ');
    expect(() => layout.encode([{ ...row, until: 1e12 }])).to.throw('BUG: ');
    expect(layout.read(layout.encode([row]), 1)).to.deep.equal([row]);
  });

  it('keeps the bits of a number that is none', () => {
    const stale = 0x7ff0000000000002n;
    const values = new Layout<{ readonly value: bigint }>('values', [{ name: 'v', type: floatBits, member: 'value' }]);
    expect(values.read(values.encode([{ value: stale }]), 1)).to.deep.equal([{ value: stale }]);
    expect(values.head('v').bytes.toString('latin1')).to.equal('\x01v\x07Float64');
    expect(() => values.head('w')).to.throw('BUG: values has no column w');
  });

  it('refuses more different words than a dictionary may have', () => {
    const many = Array.from({ length: 65_537 }, (_none, n) => ({ ...row, label: String(n) }));
    expect(() => layout.encode(many)).to.throw('BUG: a column has more than 65536 different words');
  });
});
