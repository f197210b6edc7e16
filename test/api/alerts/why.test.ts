import { expect } from 'chai';
import { changesOf, whyText, type FieldShares } from '../../../api/alerts/why.ts';

type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;
const shares = (entries: number, counts: Counts): FieldShares => ({
  entries,
  fields: new Map(Object.entries(counts).map(([field, values]) => [field, new Map(Object.entries(values))])),
});
const NONE: ReadonlySet<string> = new Set();

describe('why an alert has come', () => {
  const usual = shares(1000, { pod: { a: 500, b: 500 }, version: { '1.0': 1000 }, status: { 200: 980, 500: 20 }, host: { x: 1000 } });

  it('is told by the values whose shares have changed most, the most telling fields first', () => {
    const window = shares(100, {
      pod: { a: 55, b: 45 },
      version: { '1.0': 10, '2.0': 90 },
      status: { 200: 30, 500: 70 },
      host: { x: 100 },
    });
    expect(changesOf(window, usual, NONE)).to.deep.equal([
      { field: 'version', value: '2.0', share: 0.9, baseline_share: 0 },
      { field: 'status', value: '500', share: 0.7, baseline_share: 0.02 },
    ]);
  });

  it('is told by what is missing where something has become less', () => {
    const window = shares(100, { pod: { a: 100 }, version: { '1.0': 100 }, status: { 200: 98, 500: 2 }, host: { x: 100 } });
    expect(changesOf(window, usual, NONE)).to.deep.equal([{ field: 'pod', value: 'a', share: 1, baseline_share: 0.5 }]);
  });

  it('has five fields at most, and none that tells nothing by itself', () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_none, index) => [`f${String(index)}`, { new: 100 - index }]));
    const found = changesOf(shares(100, { ...many, level: { error: 100 } }), shares(1000, { level: { info: 1000 } }), new Set(['level']));
    expect(found.map(({ field }) => field)).to.deep.equal(['f0', 'f1', 'f2', 'f3', 'f4']);
  });

  const statuses = shares(1000, { status: { 200: 980, 500: 20 } });
  const silent: readonly (readonly [string, FieldShares, FieldShares])[] = [
    ['nothing in the window', shares(0, {}), statuses],
    ['nothing usual', shares(10, { pod: { a: 10 } }), shares(0, {})],
    ['so few entries that it may be chance', shares(5, { status: { 500: 1, 200: 4 } }), statuses],
    ['a change below five points', shares(100_000, { status: { 500: 6000, 200: 94_000 } }), shares(100_000, { status: { 500: 2000, 200: 98_000 } })],
    ['a value of its own for each entry', shares(100, { id: Object.fromEntries(Array.from({ length: 100 }, (_none, id) => [String(id), 1])) }), shares(1000, {})],
  ]; // prettier-ignore
  for (const [what, window, baseline] of silent)
    it(`says nothing of ${what}`, () => {
      expect(changesOf(window, baseline, NONE)).to.deep.equal([]);
    });

  it('is a sentence', () => {
    const changes = [
      { field: 'version', value: '2.0', share: 0.9, baseline_share: 0 },
      { field: 'status', value: '500', share: 0.7, baseline_share: 0.004 },
    ];
    expect(whyText(changes)).to.equal('What has changed most: version 2.0 (90 %, usually 0 %); status 500 (70 %, usually under 1 %).');
    expect(whyText([])).to.equal('');
  });

  it('takes names and values as they are', () => {
    const fields = new Map([['__proto__', new Map([['constructor', 100]])]]);
    expect(changesOf({ entries: 100, fields }, shares(1000, { a: { b: 1000 } }), NONE)[0]).to.include({
      field: '__proto__',
      value: 'constructor',
    });
  });
});
