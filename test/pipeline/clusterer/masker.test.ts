import { expect } from 'chai';
import { Masker } from '../../../pipeline/clusterer/masker.ts';
import { MAX_MESSAGE, MAX_TEXT } from '../../../pipeline/clusterer/words.ts';
import { cpuMs } from '../../cpu-time.ts';
import { extent } from '../../extent.ts';
import { generatedMessages } from './generated-messages.ts';
import { loghubLines } from './loghub.ts';
import { maskByTable } from './mask-table.ts';

const masker = new Masker();

function mask(message: Buffer | string): string {
  const bytes = Buffer.from(message);
  const length = masker.mask(bytes, 0, bytes.length);
  return Buffer.from(masker.out.subarray(0, length)).toString();
}

/** Fails where the masks and their table differ. An assertion for each of a million would cost more than they do. */
function same(message: Buffer): void {
  const [template, wanted] = [mask(message), maskByTable(message)];
  if (template !== wanted) expect(template, JSON.stringify(message.toString('latin1'))).to.equal(wanted);
}

const TEMPLATES: readonly (readonly [string, string])[] = [
  ['connection from 10.0.0.7 closed', 'connection from <IP> closed'],
  ['served /10.0.0.7:50010 to 10.0.0.8:81', 'served <IP> to <IP>'],
  ['proxy.example.com:5070 open', '<HOST> open'],
  ['github.com:443 open', '<HOST> open'],
  ['panic at server.go:12', 'panic at server.go:<N>'],
  ['took 12 ms, 3.5 MB read', 'took <N>, <N> read'],
  ['took 12ms (99%)', 'took <N> (<N>%)'],
  ['blk_-1608999687919862906 is done', '<ID> is done'],
  ['order 550e8400-e29b-41d4-a716-446655440000 paid', 'order <ID> paid'],
  ['mac 00:11:43:e3:ba:c3 and fe80::1:2', 'mac <ID> and <ID>'],
  ['stored in /var/lib/x/y.dat', 'stored in <PATH>'],
  ['loaded C:\\Windows\\system32\\x.dll', 'loaded <PATH>'],
  ['see https://example.com/a?b=c&d=e, please.', 'see <URL>, please.'],
  ['read/write and n/a stay', 'read/write and n/a stay'],
  ['at Fri Jun 17 07:07:00 2005', 'at <TS>'],
  ['from 2017-05-16 05:00:00,123 to 2017-05-16T06:00:00Z', 'from <TS> to <TS>'],
  ['ends at 07:07:00 UTC.', 'ends at <TS>.'],
  ['"GET /v2/x HTTP/1.1" 200', '"GET <PATH>" <N>'],
  ['uses HTTP/1.1 and UTF-8', 'uses HTTP/1.1 and UTF-8'],
  ['session opened for user root by (uid=0)', 'session opened for user <*> by (uid=<*>)'],
  ['check pass; user unknown', 'check pass; user unknown'],
  ['ready=true policy=x name="View Lock" rect=Rect(0, 1)', 'ready=<*> policy=<*> name="<*>" rect=Rect(<N>, <N>)'],
  ['level=info msg="user logged in" user=bob', 'level=info msg="user logged in" user=<*>'],
  ['{"msg":"order paid","user":"bob","n":5,"ok":true}', '{"msg":"order paid","user":"<*>","n":<N>,"ok":<*>}'],
  ['overlap:false value is null', 'overlap:<*> value is <*>'],
  ['jk2_init() found child 5', 'jk2_init() found child <N>'],
  ['com.example.Shop failed: java.io.IOException: closed', '<HOST> failed: java.io.IOException: closed'],
  ['illegal instruction......0', 'illegal instruction......<N>'],
  ['lifetime <1 sec, pid <0.12.0>', 'lifetime <N>, pid <<N>>'],
  ['mail to a.b@example', 'mail to a.b@example'],
  ['mail to ab@example.com', 'mail to <ID>'],
  ['  a \t b \r\n', 'a b'],
  ['', ''],
  ['failed\n\tat com.a.B(B.java:1)\n\tat com.a.C(C.java:2)\nCaused by: x', 'failed Caused by: x'],
  ['Traceback:\n  File "x.py", line 1\n    boom()\nValueError: bad 5', 'Traceback: ValueError: bad <N>'],
];

describe('the masks', () => {
  for (const [message, template] of TEMPLATES)
    it(`make ${JSON.stringify(template)} of ${JSON.stringify(message)}`, () => expect(mask(message)).to.equal(template));

  it('are those of the table of regular expressions, on all Loghub lines', () => {
    for (const kind of ['content', 'raw'] as const) for (const line of loghubLines(kind)) same(Buffer.from(line));
  });

  it('are those of the table of regular expressions, on generated messages', () => {
    const words = [...new Set(loghubLines('content').flatMap((line) => line.split(/(?<=[^A-Za-z0-9])|(?=[^A-Za-z0-9])/)))];
    for (const message of generatedMessages(extent(15_000, 1_000_000), 17, words)) same(message);
  });

  it('leave a template as it is, but for the words that a placeholder takes in', () => {
    for (const line of loghubLines('content').slice(0, 4000)) expect(mask(mask(line)).length).to.be.at.most(mask(line).length);
  });

  it('read a message of a larger buffer alone', () => {
    const bytes = Buffer.from('a=1 user=for user\n "x": "error 7 \n  9 "zz"');
    const [from, to] = [8, 33];
    const length = masker.mask(bytes, from, to);
    expect(Buffer.from(masker.out.subarray(0, length)).toString()).to.equal(mask(bytes.subarray(from, to)));
  });

  it('bound a template, and cut no character', () => {
    for (const message of ['漢'.repeat(5000), 'word '.repeat(5000), '漢字 '.repeat(3000), `${'é'.repeat(1500)} x`, ',1'.repeat(9000)]) {
      const template = mask(message);
      expect(Buffer.byteLength(template)).to.be.at.most(MAX_TEXT);
      expect(template).not.to.include('\ufffd');
    }
  });

  const HOSTILE: readonly (readonly [string, string])[] = [
    ['brackets', '('.repeat(MAX_MESSAGE)],
    ['quotes of values', 'a="'.repeat(MAX_MESSAGE)],
    ['quotes of keys', '":"'.repeat(MAX_MESSAGE)],
    ['escapes', '="' + '\\"'.repeat(MAX_MESSAGE)],
    ['signs', '<1'.repeat(MAX_MESSAGE)],
    ['signs behind blanks', '<1 '.repeat(MAX_MESSAGE)],
    ['colons', '1:'.repeat(MAX_MESSAGE)],
    ['dots', '1..'.repeat(MAX_MESSAGE)],
    ['slashes', 'a:/'.repeat(MAX_MESSAGE)],
    ['no blank', 'x'.repeat(1_000_000)],
    ['no UTF-8', Buffer.alloc(100_000, 0x80).toString('latin1')],
    ['indented lines', '\n \n'.repeat(MAX_MESSAGE)],
    ['months', 'Jan 1 '.repeat(MAX_MESSAGE)],
    ['keys', 'msg=msg='.repeat(MAX_MESSAGE)],
  ];
  for (const [name, message] of HOSTILE)
    it(`take time in proportion to what is read: ${name}`, () => {
      const bytes = Buffer.from(message, 'latin1');
      const before = cpuMs();
      for (let round = 0; round < 100; round += 1) masker.mask(bytes, 0, bytes.length);
      // 4 KB at some 20 ns a byte are 10 ms in 100 rounds; what is quadratic takes seconds
      expect(cpuMs() - before).to.be.below(1500);
    });
});
