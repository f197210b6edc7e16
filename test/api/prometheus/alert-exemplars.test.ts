import { expect } from 'chai';
import { exemplarsOfResult, type FoundExemplars } from '../../../api/prometheus/alert-exemplars.ts';
import { selectorsOf } from '../../../api/prometheus/exemplars.ts';
import { parseExpression } from '../../../promql/parser/parse.ts';

const found = (labels: Readonly<Record<string, string>>, trace: string): FoundExemplars[number] => ({
  labels: { __name__: 'took_bucket', ...labels },
  shown: { trace, span: '', value: '1', time: 1, metric: 'took_bucket' },
});
const tracesOf = (all: FoundExemplars, result: Readonly<Record<string, string>>): string[] =>
  exemplarsOfResult(all, Object.entries(result)).map(({ trace }) => trace);

describe('the exemplars of an alert', () => {
  it('are those of the series whose labels do not say otherwise, each trace once', () => {
    const all = [
      found({ job: 'a', le: '1' }, 't1'),
      found({ job: 'a', le: '5' }, 't1'),
      found({ job: 'b', le: '1' }, 't2'),
      found({ le: '1' }, 't3'),
    ];
    expect(tracesOf(all, { job: 'a' })).to.deep.equal(['t1', 't3']);
    expect(tracesOf(all, { job: 'c', other: 'x' })).to.deep.equal(['t3']);
    expect(tracesOf(all, { __name__: 'renamed' })).to.deep.equal(['t1', 't2', 't3']);
    // names of what objects have are names of labels like others
    expect(tracesOf(all, { constructor: 'x', toString: 'y' })).to.deep.equal(['t1', 't2', 't3']);
  });

  it('are the first five, which are the newest', () => {
    const all = Array.from({ length: 9 }, (_none, at) => found({}, `t${String(at)}`));
    expect(tracesOf(all, {})).to.deep.equal(['t0', 't1', 't2', 't3', 't4']);
  });

  it('are looked for by every selector of the expression, over its longest window', () => {
    const windows = (query: string): (number | null)[] => selectorsOf(parseExpression(query)).map(({ windowMs }) => windowMs);
    expect(windows('histogram_quantile(0.9, sum by (le) (rate(took_bucket[10m]))) > on () (a or b offset 1h)')).to.deep.equal([600_000, null, null]); // prettier-ignore
    expect(windows('rate(a[5m * 2]) > 1')).to.deep.equal([null]);
    expect(windows('vector(1) > 0')).to.deep.equal([]);
  });
});
