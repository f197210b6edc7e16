import { expect } from 'chai';
import { Lexer, tokenize, unquotePrefix } from '../../../logsql/base/lexer.ts';

const texts = (text: string): string[] => tokenize(text).map((token) => (token.kind === 'quoted' ? `<${token.text}>` : token.text));

describe('the LogsQL lexer', () => {
  const table: readonly (readonly [string, readonly string[]])[] = [
    ['', ['']],
    ['foo.bar baz_1', ['foo.bar', 'baz_1', '']],
    ['Ошибка 日本', ['Ошибка', '日本', '']],
    ['x²y', ['x', '²', 'y', '']],
    ['a-b', ['a', '-', 'b', '']],
    ['a:=b', ['a', ':', '=', 'b', '']],
    ['a!=b a!~b a=~b a=b', ['a', '!=', 'b', 'a', '!~', 'b', 'a', '=~', 'b', 'a', '=', 'b', '']],
    ['# only a comment', ['']],
    ['a # c\nb', ['a', 'b', '']],
    ['"a # b"', ['<a # b>', '']],
    ['\u00a0a\u3000b', ['a', 'b', '']],
    ['"\\"\\\\\\n\\t\\x41\\u00e9\\U0001F600\\101"', ['<"\\\n\tAé😀A>', '']],
    ['"\\xd0\\xbf"', ['<п>', '']],
    ["'it\\'s'", ["<it's>", '']],
    ["'\\xe9'", ['<é>', '']],
    ['`a\\d"`', ['<a\\d">', '']],
    ['`a\r\nb`', ['<a\nb>', '']],
    ['"open', ['"', 'open', '']],
    ['"\\d"', ['"', '\\', 'd', '"', '']],
    ['"\\u00"', ['"', '\\', 'u00', '"', '']],
    ['"\\ud800"', ['"', '\\', 'ud800', '"', '']],
    ['"\\400"', ['"', '\\', '400', '"', '']],
    ['"a\nb"', ['"', 'a', 'b', '"', '']],
    ['😀', ['😀', '']],
  ];
  for (const [text, expected] of table) it(JSON.stringify(text), () => expect(texts(text)).to.deep.equal(expected));

  it('keeps offsets, raw texts and white space', () => {
    const [a, b] = tokenize('aa  "b"');
    expect(a).to.include({ offset: 0, raw: 'aa', spaced: false });
    expect(b).to.include({ offset: 4, raw: '"b"', spaced: true, kind: 'quoted' });
  });

  it('glues adjacent tokens', () => {
    expect(new Lexer('foo-bar:x y').phrase(true)).to.equal('foo-bar:x');
    expect(new Lexer('foo-bar:x y').phrase(false)).to.equal('foo-bar');
    expect(new Lexer('"a"b').phrase(true)).to.equal('"a"b');
    expect(new Lexer('a*b').compound()).to.equal('a*b');
    expect(new Lexer('a:b[c]').argument()).to.equal('a:b[c]');
    expect(new Lexer('*').argument()).to.equal('');
  });

  it('goes back to a place that was saved', () => {
    const lexer = new Lexer('a b c');
    const at = lexer.save();
    lexer.next();
    lexer.next();
    lexer.restore(at);
    expect(lexer.next()).to.equal('a');
    expect(lexer.is('b')).to.equal(true);
    expect(lexer.previous).to.equal('a');
  });

  it('takes quotes off at the beginning of a text alone', () => {
    expect(unquotePrefix('"a\\"b" c')).to.deep.equal({ text: 'a"b', raw: '"a\\"b"' });
    expect(unquotePrefix('a "b"')).to.equal(null);
    expect(unquotePrefix('"open')).to.equal(null);
  });
});
