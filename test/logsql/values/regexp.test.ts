import { expect } from 'chai';
import { groupWide } from '../../../logsql/values/regexp.ts';
import { cpuMs } from '../../cpu-time.ts';

describe('regexps for ClickHouse', () => {
  for (const [source, grouped] of [
    ['ошибки?', 'ошибк(?:и)?'],
    ['a?b*', 'a?b*'],
    ['日{0,1}𝒜*?', '(?:日){0,1}(?:𝒜)*?'],
    ['é+', 'é+'],
    ['[é?]*', '[é?]*'],
    ['[]é?]', '[]é?]'],
    ['[^]é?]é?', '[^]é?](?:é)?'],
    ['[[:alpha:]é*]', '[[:alpha:]é*]'],
    ['\\[é?', '\\[(?:é)?'],
    ['\\\\é?', '\\\\(?:é)?'],
    ['\\Qé?\\E?', '(?:é)(?:\\?)?'],
    ['\\Q[', '(?:\\[)'],
    ['(?i)É?', '(?i)(?:É)?'],
  ] as const)
    it(source, () => expect(groupWide(source)).to.equal(grouped));

  it('takes linear time, whatever the text', () => {
    const began = cpuMs();
    for (const text of ['[', '[[:a', '\\Q', '\\', 'é', '[é\\']) groupWide(text.repeat(1024 / text.length));
    expect(cpuMs() - began).to.be.below(500);
  });
});
