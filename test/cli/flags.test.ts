import { expect } from 'chai';
import { readFlags } from '../../cli/flags.ts';
import { UsageError } from '../../cli/output.ts';

const read = (...argv: string[]): unknown[] => {
  const { values, switches } = readFlags(argv, { values: ['from', 'to'], switches: ['json'] }, 'the help');
  return [values, [...switches]];
};

describe('readFlags', () => {
  it('takes values with a space or =, also such that begin with a dash, or have line feeds', () => {
    expect(read('--from', '-1h', '--to=-5m')).to.deep.equal([{ from: '-1h', to: '-5m' }, []]);
    expect(read('--from=a\nb=c', '--json')).to.deep.equal([{ from: 'a\nb=c' }, ['json']]);
    expect(read('--to=--json')).to.deep.equal([{ to: '--json' }, []]);
    expect(read()).to.deep.equal([{}, []]);
  });

  it('takes the last of several, and an empty value', () => {
    expect(read('--from', '1', '--from=', '--json', '--json')).to.deep.equal([{ from: '' }, ['json']]);
  });

  for (const argv of [
    ['--nope'],
    ['from'],
    ['--from'],
    ['--to', '--json'],
    ['--json=yes'],
    ['-f', '1'],
    ['--constructor', '1'],
    ['--'],
    [''],
  ])
    it(`says with the help what is wrong with ${JSON.stringify(argv)}`, () => {
      expect(() => read(...argv))
        .to.throw(UsageError, 'the help')
        .with.property('message')
        .that.matches(/^(Unknown argument "|The flag --(?:from|to) needs a value|The flag --json takes no value)/);
    });
});
