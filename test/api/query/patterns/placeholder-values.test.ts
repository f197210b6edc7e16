import { expect } from 'chai';
import { placeholderValues } from '../../../../api/query/patterns/placeholder-values.ts';
import { cpuMs } from '../../../cpu-time.ts';

const values = (template: string, ...messages: readonly string[]): unknown =>
  placeholderValues(template, messages).map(({ placeholder, values: top }) => [placeholder, ...top.map(({ value, hits }) => `${value} ${String(hits)}`)]); // prettier-ignore

describe('the values of placeholders', () => {
  it('are what stands between the constant parts, most first', () => {
    expect(values('user <N> from <IP>', 'user 2 from 10.0.0.1', 'user 1 from 10.0.0.1', 'user  1 from 10.0.0.2')).to.deep.equal([
      ['<N>', '1 2', '2 1'],
      ['<IP>', '10.0.0.1 2', '10.0.0.2 1'],
    ]);
    expect(values('<N> ms: "<*>" done', '12 ms: "a b" done')).to.deep.equal([
      ['<N>', '12 1'],
      ['<*>', 'a b 1'],
    ]);
  });

  it('are none where a message is not of the template, or there is no placeholder', () => {
    expect(values('user <N>', 'users 1', 'user ', '')).to.deep.equal([['<N>']]);
    expect(values('started', 'started')).to.deep.equal([]);
  });

  it('take as long as the message, whatever the template', () => {
    const template = '<N> a '.repeat(170).trim();
    const message = '1 a '.repeat(1000);
    const before = cpuMs();
    placeholderValues(template, Array<string>(100).fill(message));
    expect(cpuMs() - before).to.be.below(2000);
  });
});
