import { expect } from 'chai';
import { hasColors, Output, plain, printable, spaced, styled, visible, type ColorChoice } from '../../cli/output.ts';
import { CapturedOutput } from '../fakes/captured-output.ts';

describe('what a terminal would obey', () => {
  const shown: readonly (readonly [what: string, text: string, visible: string])[] = [
    ['colours', '\u001b[31mred', '\\u001b[31mred'],
    ['the title of the window', '\u001b]0;owned\u0007', '\\u001b]0;owned\\u0007'],
    ['C1, as one character', '\u009b2J\u0090', '\\u009b2J\\u0090'],
    ['NUL, backspace, DEL', '\0\b\u007f', '\\u0000\\u0008\\u007f'],
    ['a carriage return', 'hidden\rshown', 'hidden\\rshown'],
    ['the direction of text', 'a\u202eb\u202ac\u2066d\u2069', 'a\\u202eb\\u202ac\\u2066d\\u2069'],
    ['separators of lines', 'a\u2028b\u2029', 'a\\u2028b\\u2029'],
    ['line feeds and tabs stay', 'a\tb\nc', 'a\tb\nc'],
    ['all other text stays', 'é 日本語 😀 שלום \u00a0', 'é 日本語 😀 שלום \u00a0'],
  ];
  for (const [what, text, expected] of shown)
    it(`is shown: ${what}`, () => {
      expect(visible(text)).to.equal(expected);
      expect(visible(visible(text))).to.equal(expected);
      expect(printable(text)).to.equal(expected.replaceAll('\n', '\\n'));
    });

  it('is escaped wherever output has it, and JSON remains the same JSON', () => {
    const to = new CapturedOutput({ isTerminal: true });
    const output = new Output(to, {});
    const hostile = shown.map(([, text]) => text).join('');
    output.out(hostile);
    output.out([hostile, styled('red', hostile)]);
    output.err(hostile);
    output.data(`${JSON.stringify({ hostile })}\n`);
    const own = to.stdout.replaceAll('\u001b[31m', '').replaceAll('\u001b[39m', '');
    expect([visible(own), visible(to.stderr)]).to.deep.equal([own, to.stderr]);
    expect(JSON.parse(to.stdout.slice(to.stdout.lastIndexOf('{"')))).to.deep.equal({ hostile });
  });

  it('is what a pipe gets of JSON and CSV, which programs read', () => {
    const to = new CapturedOutput();
    new Output(to, {}).data('{"a":"\u009b"}\r\n');
    expect(to.stdout).to.equal('{"a":"\u009b"}\r\n');
  });
});

describe('colours', () => {
  const cases: readonly (readonly [choice: ColorChoice, env: Record<string, string>, isTerminal: boolean, expected: boolean])[] = [
    ['auto', {}, true, true],
    ['auto', {}, false, false],
    ['auto', { NO_COLOR: '1' }, true, false],
    ['auto', { NO_COLOR: 'no' }, true, false],
    ['auto', { NO_COLOR: '' }, true, true],
    ['auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['auto', { FORCE_COLOR: '1' }, false, true],
    ['auto', { FORCE_COLOR: '' }, false, false],
    ['auto', { FORCE_COLOR: '0' }, true, false],
    ['auto', { TERM: 'dumb' }, true, false],
    ['always', { NO_COLOR: '1' }, false, true],
    ['never', { FORCE_COLOR: '1' }, true, false],
  ];
  for (const [choice, env, isTerminal, expected] of cases)
    it(`${expected ? 'are there' : 'are not there'}: --color ${choice}, ${JSON.stringify(env)}, ${isTerminal ? 'terminal' : 'pipe'}`, () => {
      expect(hasColors(choice, env, isTerminal)).to.equal(expected);
      const to = new CapturedOutput({ isTerminal });
      new Output(to, env).withColors(choice).out([styled('red', 'x'), '\n']);
      expect(to.stdout).to.equal(expected ? '\u001b[31mx\u001b[39m\n' : 'x\n');
    });

  it('are parts of a line, which has a text without them', () => {
    const line = spaced([styled('red', 'a'), 'b', [styled('gray', 'c='), 'd']]);
    expect(plain(line)).to.equal('a b c=d');
  });
});

describe('progress', () => {
  function progress(to: CapturedOutput, env: Record<string, string> = {}): Output {
    const output = new Output(to, env);
    for (to.clock = 0; to.clock < 12_000; to.clock += 50) output.progress(`at ${String(to.clock)} ${'x'.repeat(100)}`);
    return output;
  }

  it('is one line that is written over on a terminal, as wide as that at most, and is gone before anything else', () => {
    const to = new CapturedOutput({ isTerminal: true });
    const output = progress(to);
    const drawn = to.stderr.split('\r\u001b[2K').slice(1);
    expect(drawn).to.have.length(119);
    for (const line of drawn) expect(line).to.match(/^at \d+ x+$/).and.have.length(39); // prettier-ignore
    for (const write of [() => output.out('a\n'), () => output.data('a\n'), () => output.err(''), () => output.endProgress()]) {
      to.clock += 100;
      output.progress('p');
      to.stderr = '';
      write();
      write();
      expect(to.stderr).to.equal('\r\u001b[2K');
    }
  });

  for (const [where, to, env] of [
    ['a log', new CapturedOutput({ isTerminal: true, isErrTerminal: false }), {}],
    ['a dumb terminal', new CapturedOutput({ isTerminal: true }), { TERM: 'dumb' }],
  ] as const)
    it(`is a line every five seconds in ${where}, without a carriage return`, () => {
      progress(to, env).endProgress();
      expect(to.stderr).to.match(/^at 5000 x+\nat 10000 x+\n$/);
    });
});
