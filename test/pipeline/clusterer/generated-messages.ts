/** Words and signs that the masks have rules for, and what breaks them. */
const PIECES: readonly string[] = [
  ...[
    '2017-05-16',
    '05:00:00',
    '00:11:43:e3:ba:c3',
    'fe80::1',
    'Jul',
    'Fri',
    'UTC',
    'Z',
    'AM',
    'T',
    '2016/9/27:20:30:31.4',
    '10/May/2024',
    '2024',
    '1999',
  ],
  ...[
    'for',
    'user',
    'by',
    ' user ',
    'bob',
    'unknown',
    ' ms',
    ' KB',
    's',
    'ms',
    ' HTTP/1.1',
    'GET /',
    'HTTP/2',
    'HTTP/1.',
    'n/a',
    'true',
    'null',
  ],
  ...[
    '"',
    '="',
    '\\"',
    '":"',
    '": "',
    '"msg":"',
    'msg=',
    'level=',
    'a=',
    '=',
    '(',
    '()',
    '{',
    '[',
    ')',
    '}',
    ']',
    '<1',
    '>5',
    '<134>',
    "'",
    '`',
    '|',
    ';',
  ],
  ...[
    '://',
    'http://x',
    '/',
    '..',
    '.',
    '...',
    ':',
    '::',
    '\\',
    'C:\\',
    'x.com:80',
    'a.go:12',
    'a@b.c',
    'java.io.IOException',
    '1.2.3.4',
    '/1.2.3.4:5',
  ],
  ...[
    '12',
    '3',
    '-1',
    '+',
    '#',
    '*',
    '@',
    '%',
    '$',
    '~',
    '!',
    '?',
    '_',
    '-',
    ',',
    ' ',
    '\t',
    '\n',
    '\n ',
    '\n\t',
    '\0',
    '\x7f',
    'jk2_init()',
    '0x1f',
  ],
  ...['::1', '2001:db8::7', '[::1]:80', '[::]', 'fe80::1%eth0', '/32', '::ffff:', 'dead', 'beef', 'on ', 'a::b', '%eth0', 'http://['],
  ...['\x1b[31m', '\x1b', '\x1b]0;', '\x07', '\x1b\\', '\u009b0m', '\u009d', '\u009c', '\\u001b[0m', '\\e[', '[31m', '#033'],
  ...['deadbeef-dead-beef-dead-beefdeadbeef', 'ab:cd:ef:ab:cd:ef', 'cafe'.repeat(8), 'ж'.repeat(40)],
  ...['é', 'é', '\ufffd', 'x'.repeat(70), 'connection', 'closed', 'Server', 'of', 'error', 'com.example.Shop', 'worker-7', 'sha256'],
];

/** Numbers of a sequence that a seed decides. */
export function sequence(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor(((state >>> 4) / 2 ** 28) * below);
  };
}

/** Messages made of pieces and of `words`, some of them long, some no UTF-8. */
export function* generatedMessages(count: number, seed: number, words: readonly string[] = PIECES): Generator<Buffer> {
  const random = sequence(seed);
  for (let index = 0; index < count; index += 1) {
    const parts: string[] = [];
    const length = 1 + random(index % 50 === 0 ? 400 : 14);
    for (let part = 0; part < length; part += 1) {
      const list = random(3) === 0 ? words : PIECES;
      parts.push(list[random(list.length)] as string, random(3) === 0 ? ' ' : '');
    }
    const text = parts.join('');
    yield index % 7 === 0 ? Buffer.from(text, 'latin1') : Buffer.from(text);
  }
}
