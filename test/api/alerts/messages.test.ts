import { expect } from 'chai';
import { messagesOf, mostText, sessionsOf } from '../../../api/alerts/messages.ts';

const some = (count: number, textOf: (index: number) => string): string[] => Array.from({ length: count }, (_none, index) => textOf(index));

describe('the messages of an alert', () => {
  it('are shown once of each template, and counted by it', () => {
    const { samples, templates } = messagesOf([...some(6, (n) => `payment declined code ${String(n)}`), '', 'no bank', 'no bank', 'x']);
    expect(samples).to.deep.equal(['payment declined code 0', 'no bank', 'x']);
    expect(templates).to.deep.equal([
      { template: 'payment declined code <N>', share: 0.667 },
      { template: 'no bank', share: 0.222 },
      { template: 'x', share: 0.111 },
    ]);
    expect(mostText(templates)).to.deep.equal({
      title: 'most are `payment declined code <N>`',
      sentence: 'Most are `payment declined code <N>` (67 %).',
    });
  });

  const none: [string, string[]][] = [
    ['none', []],
    ['empty ones', ['', '']],
    ['none that half of them have', ['a', 'b', 'c']],
  ];
  for (const [what, texts] of none)
    it(`say nothing where there are ${what}`, () => {
      expect(mostText(messagesOf(texts).templates)).to.deep.equal({ title: '', sentence: '' });
    });

  it('are cut, however long they and their templates are', () => {
    const { samples, templates } = messagesOf(['some words '.repeat(100_000), '(('.repeat(50_000), '\u0000\ud800é'.repeat(1000)]);
    expect(samples.every((text) => text.length <= 500)).to.equal(true);
    expect(templates.every(({ template }) => template.length <= 200)).to.equal(true);
  });

  it('are five samples and three templates at most', () => {
    const { samples, templates } = messagesOf(some(500, (n) => `word${String.fromCharCode(97 + (n % 26))}ly`));
    expect([samples.length, templates.length]).to.deep.equal([5, 3]);
  });

  it('have the newest five sessions, each once, and nothing that is no id', () => {
    const ids = ['a', undefined, 'b', 'a', '', 'no id', 'x'.repeat(129), 7, '<b>', 'c', 'd', 'e', 'f'];
    expect(sessionsOf(ids)).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
  });
});
