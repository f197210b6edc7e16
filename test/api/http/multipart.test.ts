import { expect } from 'chai';
import fc from 'fast-check';
import { readMultipart } from '../../../api/http/multipart.ts';

const TYPE = 'multipart/form-data; boundary=XX';
const read = (body: string, type = TYPE): unknown => readMultipart(Buffer.from(body, 'utf8'), type);
const part = (headers: string, value: string): string => `--XX\r\n${headers}\r\n\r\n${value}\r\n`;
const field = (name: string, value: string): string => part(`Content-Disposition: form-data; name="${name}"`, value);

describe('a multipart form', () => {
  const cases: readonly (readonly [string, string, unknown, string?])[] = [
    [
      'texts in their order',
      `${field('a', '1')}${field('a', '2')}${field('b', '')}--XX--\r\n`,
      [
        ['a', '1'],
        ['a', '2'],
        ['b', ''],
      ],
    ],
    ['nothing', '--XX--', []],
    ['a preamble and an epilogue', `hello\r\n${field('a', '1')}--XX--\r\nbye`, [['a', '1']]],
    ['lines and bytes beyond ASCII', `${field('ä', 'x\r\ny — ü\n--X')}--XX--`, [['ä', 'x\r\ny — ü\n--X']]],
    [
      'other headers, in any case',
      `${part('content-type: text/plain\r\nCONTENT-DISPOSITION: form-data; Name="a"', 'v')}--XX--`,
      [['a', 'v']],
    ],
    ['escapes in a name', `${field('a%22b%0D%0A', 'v')}--XX--`, [['a"b\r\n', 'v']]],
    ['no file', `${part('Content-Disposition: form-data; name="f"; filename="x.txt"', 'v')}${field('a', '1')}--XX--`, [['a', '1']]],
    [
      'a quoted boundary',
      '--a b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--a b--',
      [['a', '1']],
      'multipart/form-data; boundary="a b"',
    ],
    ['no body', '', null],
    ['no boundary', `${field('a', '1')}--XX--`, null, 'multipart/form-data'],
    ['another boundary', `${field('a', '1')}--XX--`, null, 'multipart/form-data; boundary=YY'],
    ['a body that was cut off', field('a', '1'), null],
    ['a part without headers', '--XX\r\nabc\r\n--XX--', null],
    ['a part without a name', `${part('Content-Disposition: form-data', 'v')}--XX--`, null],
    ['a part of endless headers', `${part(`Content-Disposition: form-data; ${' '.repeat(1_000_000)}`, 'v')}--XX--`, null],
  ];
  for (const [what, body, expected, type] of cases)
    it(`gives or refuses ${what}`, () => {
      expect(read(body, type)).to.deep.equal(expected);
    });

  it('reads what fetch writes', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text), { maxLength: 5 }), async (pairs) => {
        const form = new FormData();
        for (const [name, value] of pairs) form.append(name, value);
        const request = new Request('http://localhost/', { method: 'POST', body: form });
        const normal = (value: string): string => value.replace(/\r\n|\r|\n/g, '\r\n');
        expect(readMultipart(Buffer.from(await request.arrayBuffer()), request.headers.get('content-type') ?? '')).to.deep.equal(
          pairs.map(([name, value]) => [normal(name), normal(value)]),
        );
      }),
    );
  });

  it('stands any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (bytes, type) => {
        readMultipart(Buffer.concat([Buffer.from('--XX\r\n'), bytes]), TYPE);
        readMultipart(Buffer.from(bytes), type);
      }),
    );
  });
});
