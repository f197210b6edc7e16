import { expect } from 'chai';
import { resourceSpansJson } from '../../../api/traces/otlp-json.ts';
import { resourceAttributes } from '../../../api/traces/stored-span.ts';
import { storedSpan } from '../../fakes/stored-span.ts';
import { spanId } from '../../fakes/stored-spans.ts';

type Group = {
  readonly resource: object;
  readonly scopeSpans: readonly { readonly scope: object; readonly spans: readonly { readonly spanId: string }[] }[];
};

describe('spans as OTLP', () => {
  it('of one resource and scope are in one group, in the order of their first', () => {
    const spans = ['a', 'b', 'a', ''].map((scope, index) =>
      storedSpan({ spanId: spanId(index), scope, ...(scope === '' ? { resource: '' } : {}) }),
    );
    const groups = resourceSpansJson(spans).map((json) => JSON.parse(json) as Group);
    expect(groups.map(({ scopeSpans }) => scopeSpans[0]?.spans.map((span) => span.spanId))).to.deep.equal([
      [spanId(0), spanId(2)],
      [spanId(1)],
      [spanId(3)],
    ]);
    expect(groups.map(({ scopeSpans }) => scopeSpans[0]?.scope)).to.deep.equal([{ name: 'a' }, { name: 'b' }, {}]);
    expect(groups[2]?.resource).to.deep.equal({});
  });

  it('leave out what has its default, but never name, kind and times', () => {
    const [group] = resourceSpansJson([storedSpan({ name: '', kind: 0 })]).map((json) => JSON.parse(json) as Group);
    expect(Object.keys(group?.scopeSpans[0]?.spans[0] ?? {})).to.deep.equal(['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'status']); // prettier-ignore
  });

  it('keep the order of resources, with names that are numbers, come twice or have quotes', () => {
    const { pairs } = resourceAttributes({ resource: '{"z":"1","1":"a\\"\\\\","z":"","é\\n":"{,}"}', resourceTypes: 'ssss' });
    expect(pairs).to.deep.equal([['z', '1'], ['1', 'a"\\'], ['z', ''], ['é\n', '{,}']]); // prettier-ignore
  });
});
