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

const UUID = 'deadbeef-dead-beef-dead-beefdeadbeef';
const IDS: readonly string[] = [
  ...['0190fe17-d1ae-7091-a034-22ade2121dc0', UUID, UUID.toUpperCase(), UUID.replaceAll('-', ''), `job-${UUID}`, 'ab:cd:ef:ab:cd:ef'],
];
const ADDRESSES: readonly string[] = [
  ...['2001:db8::1', 'fe80::1', '::1', '::', '2001:db8:85a3:1:2:8a2e:370:7334', '::ffff:10.0.0.1', '::ffff:192.0.2.1:8080', '2001:db8::'],
  ...['fe80::1%eth0', '2001:db8::/32', '[::1]:8080', '[fe80::1%eth0]:80', '[::]:80', ':::8080', '0:0:0:0:0:0:0:1', '64:ff9b::192.0.2.33'],
  ...['2001:DB8::A', 'dead:beef::cafe', 'dead:beef:dead:beef:dead:beef:dead:beef', '[2001:db8::1]:443'],
];
/** Ways in which a line is coloured. */
const COLOURED: readonly string[] = [
  ...[
    '\x1b[31mERROR\x1b[0m disk sda1 full',
    '\x1b[1;38;5;196mERR\x1b[mOR disk sda1 \x1b[2mfull\x1b[0m\x1b[K',
    '\x1b(B\x1b[mERROR disk sda1 full',
  ],
  ...[
    '\x1b]0;title 5\x07ERROR disk sda1 full',
    '\x1b]8;;http://x/1\x1b\\ERROR\x1b]8;;\x1b\\ disk sda1 full',
    '\u009b31mERROR\u009b0m disk sda1 full',
  ],
  ...[
    '\\u001b[31mERROR\\u001b[0m disk sda1 full',
    '\\x1b[31mERROR\\x1b[0m disk \\033[1msda1\\e[0m full',
    'ERROR disk sd\x1b[4ma1 full\x1b[31',
  ],
  ...['ERROR disk sda1 full\n\x1b[2m\tat a.b(C.java:5)\x1b[0m', '\x1b ERROR disk sda1 full'],
];
/** Text outside ASCII, and the values in it. */
const SCRIPTS: readonly (readonly [string, string])[] = [
  ['用户登录失败，错误码401', '用户登录失败，错误码<N>'],
  ['支付网关超时，对端10.0.0.3:8080', '支付网关超时，对端<IP>'],
  ['订单12345处理失败', '订单<N>处理失败'],
  ['訂單ABC-123已取消', '訂單<ID>已取消'],
  ['注文１２３４５の処理に失敗しました', '注文<N>の処理に失敗しました'],
  ['耗时１２．５秒，１２：３０：４５完成１００％', '耗时<N>秒，<TS>完成<N>%'],
  ['주문12345이 실패했습니다 3회', '주문<N>이 실패했습니다 <N>회'],
  ['คำสั่งซื้อ12345ล้มเหลว รหัส ๔๐๔', 'คำสั่งซื้อ<N>ล้มเหลว รหัส <N>'],
  ['ошибка узла 10.0.0.1, попытка 3', 'ошибка узла <IP>, попытка <N>'],
  ['узел7 упал', '<ID> упал'],
  ['Σφάλμα 404 στη σύνδεση', 'Σφάλμα <N> στη σύνδεση'],
  ['خطأ في الاتصال رقم ٤٠١، الخادم12', 'خطأ في الاتصال رقم <N>، الخادم<N>'],
  ['שגיאה 5 בשרת', 'שגיאה <N> בשרת'],
  ['त्रुटि ४०४ पोर्ट8080 बंद', 'त्रुटि <N> पोर्ट<N> बंद'],
  ['🚀部署3完成✅ 1️⃣', '🚀部署<N>完成✅ <N>'],
  ['e\u0301te\u0301 12 naïve café', 'e\u0301te\u0301 <N> naïve café'],
  ['bad \ud83d half 5', 'bad \ufffd half <N>'],
  ['访问http://a.example/x失败', '访问<URL>失败'],
  ['请求 http://例え.jp/パス 成功', '请求 <URL> 成功'],
  ['fetch http://[2001:db8::1]:80/x failed', 'fetch <URL> failed'],
  ['文件 /home/张三/文件.txt 丢失，读/写', '文件 <PATH> 丢失，读/写'],
  ['user=张三，登录失败 msg=订单5失败', 'user=<*>，登录失败 msg=订单<N>失败'],
  ['for user 张三 登录', 'for user <*> 登录'],
  ['“12” – 10–20 €5 №12', '“<N>” – <N>–<N> €<N> №<N>'],
  ['错误'.repeat(60), '错误'.repeat(60)],
  ['warn :: std::vector a::b ::Foo a[::2] 1::', 'warn :: std::vector a::b ::Foo a[::<N>] <N>::'],
  ['Server listening on :: port 22, addr=::', 'Server listening on <ID> port <N>, addr=<ID>'],
];

describe('the masks', () => {
  for (const [message, template] of TEMPLATES)
    it(`make ${JSON.stringify(template)} of ${JSON.stringify(message)}`, () => expect(mask(message)).to.equal(template));

  for (const [message, template] of SCRIPTS)
    it(`keep the text of every script: ${JSON.stringify(message)}`, () => expect(mask(message)).to.equal(template));

  for (const message of COLOURED)
    it(`take no notice of escape sequences: ${JSON.stringify(message)}`, () => expect(mask(message)).to.equal('ERROR disk <ID> full'));

  for (const address of ADDRESSES)
    it(`have one placeholder for the address ${address}`, () => {
      expect(mask(`peer ${address} is up`)).to.equal('peer <ID> is up');
      expect(mask(`对端${address}超时`)).to.equal(address === '::' ? '对端::超时' : '对端<ID>超时');
      expect(mask(`peer ${address}, down.`)).to.equal('peer <ID>, down.');
    });

  for (const id of IDS)
    it(`have one placeholder for the id ${id}`, () => {
      expect(mask(`job ${id} done`)).to.equal('job <ID> done');
      expect(mask(`job {${id}} done`)).to.equal('job {<ID>} done');
      expect(mask(`任务${id}完成`)).to.equal('任务<ID>完成');
    });

  it('are the same of a message inside a larger buffer, in every script', () => {
    for (const [message, template] of [...TEMPLATES, ...SCRIPTS]) {
      const [around, bytes] = [Buffer.from('[::1]12漢٣'), Buffer.from(message)];
      const length = masker.mask(Buffer.concat([around, bytes, around]), around.length, around.length + bytes.length);
      expect(Buffer.from(masker.out.subarray(0, length)).toString()).to.equal(template);
    }
  });

  it('are those of the table of regular expressions, on Loghub lines', () => {
    for (const kind of ['content', 'raw'] as const)
      for (const [at, line] of loghubLines(kind).entries()) if (at % extent(4, 1) === 0) same(Buffer.from(line));
  });

  it('are those of the table of regular expressions, on generated messages', () => {
    const words = [...new Set(loghubLines('content').flatMap((line) => line.split(/(?<=[^A-Za-z0-9])|(?=[^A-Za-z0-9])/)))];
    for (const message of generatedMessages(extent(5000, 1_000_000), 17, words)) same(message);
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
    for (const message of [
      '漢'.repeat(5000),
      'ERROR ' + '漢'.repeat(5000),
      'word '.repeat(5000),
      '漢字 '.repeat(3000),
      `${'é'.repeat(1500)} x`,
      ',1'.repeat(9000),
    ]) {
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
    ['escape sequences', '\x1b[31m'.repeat(MAX_MESSAGE)],
    ['strings that are not closed', '\x1b]\xc2\x9d'.repeat(MAX_MESSAGE)],
    ['ESC as text', '\\e[0m'.repeat(MAX_MESSAGE)],
    ['addresses', '[::1]:'.repeat(MAX_MESSAGE)],
    ['groups of addresses', 'a:'.repeat(MAX_MESSAGE)],
    ['text and digits', Buffer.from('漢1'.repeat(MAX_MESSAGE)).toString('latin1')],
    ['wide digits', Buffer.from('１．'.repeat(MAX_MESSAGE)).toString('latin1')],
    ['wide URLs', Buffer.from('漢://漢['.repeat(MAX_MESSAGE)).toString('latin1')],
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
