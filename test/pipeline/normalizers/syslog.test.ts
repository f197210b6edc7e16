import { expect } from 'chai';
import { extent } from '../../extent.ts';
import { cpuCost } from '../../fakes/cpu-cost.ts';
import fc from 'fast-check';
import { Literal, textOf, type FieldValue } from '../../../pipeline/core/entry.ts';
import { syslog } from '../../../pipeline/normalizers/syslog.ts';
import { newWriter, RECEIVED_AT } from '../logs/entry-lines.ts';
import { normalize, type RequestOptions } from './normalize.ts';

/** The fields of the one entry of a body; numbers and booleans as `{json}`. */
function entry(body: string | Buffer, options: RequestOptions = {}): Record<string, unknown> {
  const result = normalize(syslog, body, options);
  if (!('entries' in result)) throw new Error(`${String(result.status)} ${result.detail}`);
  expect(result.entries).to.have.length(1);
  const plain = (value: FieldValue): unknown => (value instanceof Literal ? { json: value.text } : value);
  return Object.fromEntries([...(result.entries[0] ?? [])].map(([name, value]) => [name, plain(value)]));
}

/** What devices put before, into and behind their time: the time, the host and the message that are read. */
const DEVICE_HEADS: readonly (readonly [what: string, frame: string, time: string, host: string | undefined, message: string])[] = [
  [
    'NX-OS',
    '<187>: 2026 Nov 20 11:27:28 GMT: %AUTHPRIV-3-SYSTEM_MSG: pam',
    '2026-11-20T11:27:28Z',
    undefined,
    '%AUTHPRIV-3-SYSTEM_MSG: pam',
  ],
  ['NX-OS, milliseconds', '<187>: 2026 Nov 20 11:27:28.123 UTC: %ETH-5-X: up', '2026-11-20T11:27:28.123Z', undefined, '%ETH-5-X: up'],
  ['NX-OS, a host', '<189>2026 Nov 20 11:27:28 sw-1 %ETH-5-X: up', '2026-11-20T11:27:28Z', 'sw-1', '%ETH-5-X: up'],
  ['IOS', '<189>148: *Nov 20 11:27:28.123: %SYS-5-CONFIG_I: by vty0', '2026-11-20T11:27:28.123Z', undefined, '%SYS-5-CONFIG_I: by vty0'],
  ['IOS, year and zone', '<189>148: Nov 20 2026 11:27:28.123 UTC: %SYS-5-X: y', '2026-11-20T11:27:28.123Z', undefined, '%SYS-5-X: y'],
  ['IOS, a host', '<189>148: r1: *Nov 20 11:27:28.123 UTC: %SYS-5-X: y', '2026-11-20T11:27:28.123Z', 'r1', '%SYS-5-X: y'],
  ['IOS, a host first', '<189>r1: 000148: .Nov 20 2026 11:27:28 CET: %SYS-5-X: y', '2026-11-20T10:27:28Z', 'r1', '%SYS-5-X: y'],
  ['IOS, a host without a number', '<189>r1.example: Nov 20 11:27:28: %SYS-5-X: y', '2026-11-20T11:27:28Z', 'r1.example', '%SYS-5-X: y'],
  ['ASA', '<166>Nov 20 2026 11:27:28 fw1 : %ASA-6-302013: Built', '2026-11-20T11:27:28Z', 'fw1', '%ASA-6-302013: Built'],
  ['a zone behind the time', '<13>Nov 20 11:27:28 UTC web-1 app[5]: x', '2026-11-20T11:27:28Z', 'web-1', 'x'],
  ['a space behind the PRI', '<13> Nov 20 11:27:28 web-1 app: x', '2026-11-20T11:27:28Z', 'web-1', 'x'],
  ['an offset without minutes', '<13>2026-11-20T11:27:28+02 web-1 app: x', '2026-11-20T09:27:28Z', 'web-1', 'x'],
  ['an offset without a colon', '<13>2026-11-20T11:27:28.5+0530 web-1 app: x', '2026-11-20T05:57:28.500Z', 'web-1', 'x'],
  ['a word that is no host', '<13>note: this is no head', '2026-11-21T14:00:00Z', undefined, 'note: this is no head'],
];

describe('normalizer syslog: heads of devices', () => {
  for (const [what, frame, time, host, message] of DEVICE_HEADS)
    it(`${what}: ${frame}`, () => {
      const found = entry(frame);
      expect({ time: found['_time'], host: found['hostname'], message: found['_msg'] }).to.deep.equal({ time, host, message });
    });
});

const HEAD = '<165>1 2026-10-11T22:14:15.003Z host app 77 ID47';

describe('normalizer syslog: RFC 5424', () => {
  it('reads the whole header', () => {
    expect(entry(`${HEAD} [ex@32473 iut="3" class="high"][b@1 c="d"] \ufeffAn event`)).to.deep.equal({
      _time: '2026-10-11T22:14:15.003Z',
      _stream: '{facility="20",hostname="host",service="app"}',
      _msg: 'An event',
      level: 'notice',
      service: 'app',
      facility_keyword: 'local4',
      format: 'rfc5424',
      hostname: 'host',
      app_name: 'app',
      proc_id: '77',
      msg_id: 'ID47',
      'ex@32473.iut': '3',
      'ex@32473.class': 'high',
      'b@1.c': 'd',
      priority: { json: '165' },
      facility: { json: '20' },
      severity: { json: '5' },
    });
  });

  const message = (name: string, frame: string, text: string): void => {
    it(`${name}: the message is ${JSON.stringify(text)}`, () => expect(entry(frame)['_msg']).to.equal(text));
  };
  message('nil structured data', `${HEAD} - text`, 'text');
  message('more spaces before the message', `${HEAD} -  two`, ' two');
  message('no message, nil structured data', `${HEAD} -`, `${HEAD} -`);
  message('no message but its space', `${HEAD} - `, `${HEAD} - `);
  message('no message, structured data', `${HEAD} [a b="c"]`, '[a b="c"]');
  message('nothing behind the id', HEAD, HEAD);
  message('cut off in the header', '<165>1 2026-10-11T22:14:15Z host', '<165>1 2026-10-11T22:14:15Z host');
  message('cut off behind the version', '<165>1 ', '1 ');
  message('nothing but nils', '<0>1 - - - - - -', '<0>1 - - - - - -');
  message('no structured data at all', `${HEAD} text of it`, 'text of it');
  message('a hyphen that is text', `${HEAD} -text of it`, '-text of it');
  message('broken structured data', `${HEAD} [a b="c" d] rest`, '[a b="c" d] rest');
  message('structured data cut off', `${HEAD} [a b="c`, '[a b="c');
  message('structured data without an id', `${HEAD} [ b="c"] rest`, '[ b="c"] rest');
  message('something stuck to structured data', `${HEAD} [a b="c"]rest`, '[a b="c"]rest');
  message('a byte order mark alone', `${HEAD} - \ufeff`, '\ufeff');
  message('brackets in the message', `${HEAD} [a b="c"] [d] e`, '[d] e');
  message('another version', '<165>2 2026-10-11T22:14:15Z h a - - - x', '2 2026-10-11T22:14:15Z h a - - - x');
  message('a message that begins like one', '<165>1 is a number', '1 is a number');

  const parameters = (data: string, fields: Record<string, string>): void => {
    it(`reads ${data}`, () => {
      const found = Object.entries(entry(`${HEAD} ${data} m`)).filter(([name]) => name.startsWith('s.'));
      expect(Object.fromEntries(found)).to.deep.equal(fields);
    });
  };
  parameters('[s a="1" b="2"]', { 's.a': '1', 's.b': '2' });
  parameters('[s]', {});
  parameters('[s  a="1"  ]', { 's.a': '1' });
  parameters('[s a=""]', {});
  parameters('[s a="1" a="2"]', { 's.a': '2' });
  parameters('[s a="\\"\\\\\\]"]', { 's.a': '"\\]' });
  parameters('[s a="\\n\\"]', {});
  parameters('[s a="\\n\\\\"]', { 's.a': '\\n\\' });
  parameters('[s a="[x] = ]"]', { 's.a': '[x] = ]' });
  parameters('[s ä="ü"]', { 's.ä': 'ü' });
  parameters('[s __proto__="1" constructor="2"]', { 's.__proto__': '1', 's.constructor': '2' });
  parameters('[s a="1" broken', { 's.a': '1' });

  it('keeps the text of structured data whose names are too long', () => {
    const data = `[s ${'n'.repeat(255)}="v"]`;
    expect(entry(`${HEAD} ${data} m`)['_msg']).to.equal(`${data} m`);
    expect(entry(`${HEAD} [s ${'n'.repeat(253)}="v"] m`)['_msg']).to.equal('m');
  });
  it('keeps a time that is none as a field', () => {
    expect(entry('<0>1 2026-13-01T00:00:00Z h a - - - x')).to.include({ timestamp: '2026-13-01T00:00:00Z', _time: '2026-11-21T14:00:00Z' });
    expect(entry(`<0>1 2${'0'.repeat(100)} h a - - - x`)).to.include({ timestamp: `2${'0'.repeat(100)}` });
  });
  it('takes times in other forms', () => {
    expect(entry('<0>1 2026-10-11t22:14:15.5z h a - - - x')['_time']).to.equal('2026-10-11T22:14:15.500Z');
    expect(entry('<0>1 2026-10-11T22:14:15-0500 h a - - - x')['_time']).to.equal('2026-10-12T03:14:15Z');
  });
});

describe('normalizer syslog: RFC 3164', () => {
  const ok = (frame: string, fields: Record<string, string | undefined>): void => {
    it(`reads ${frame}`, () => {
      const { _msg, hostname, app_name, proc_id, service, format } = entry(frame);
      const found = { _msg, hostname, app_name, proc_id };
      expect(found).to.deep.equal({ hostname: undefined, app_name: undefined, proc_id: undefined, ...fields });
      expect(service).to.equal(app_name);
      expect(format).to.equal('rfc3164');
    });
  };
  const at = '<34>Nov 20 10:00:00';
  ok(`${at} host su: 'su root' failed`, { hostname: 'host', app_name: 'su', _msg: "'su root' failed" });
  ok(`${at} host sshd(pam_unix)[19939]: text`, { hostname: 'host', app_name: 'sshd(pam_unix)', proc_id: '19939', _msg: 'text' });
  ok(`${at} host postfix/smtpd[1] text`, { hostname: 'host', app_name: 'postfix/smtpd', proc_id: '1', _msg: 'text' });
  ok(`${at} host kernel:  [ 12.3] text`, { hostname: 'host', app_name: 'kernel', _msg: ' [ 12.3] text' });
  ok(`${at} host app[]: text`, { hostname: 'host', app_name: 'app', _msg: 'text' });
  ok(`${at} sshd[7]: no host`, { app_name: 'sshd', proc_id: '7', _msg: 'no host' });
  ok(`${at} sshd: no host`, { app_name: 'sshd', _msg: 'no host' });
  ok(`${at} - app: nil host`, { app_name: 'app', _msg: 'nil host' });
  ok(`${at} host last message repeated 3 times`, { hostname: 'host', _msg: 'last message repeated 3 times' });
  ok(`${at} host http://x/ is down`, { hostname: 'host', _msg: 'http://x/ is down' });
  ok(`${at} host app[a b]: text`, { hostname: 'host', _msg: 'app[a b]: text' });
  ok(`${at} host [error] text`, { hostname: 'host', _msg: '[error] text' });
  ok(`${at} 2001:db8::1 app: text`, { hostname: '2001:db8::1', app_name: 'app', _msg: 'text' });
  ok(`${at} host ${'t'.repeat(200)}: text`, { hostname: 'host', _msg: `${'t'.repeat(200)}: text` });
  ok(`${at} host app:`, { hostname: 'host', app_name: 'app', _msg: `${at} host app:` });
  ok(`${at} host`, { hostname: 'host', _msg: `${at} host` });
  ok(at, { _msg: at });
  ok(`${at}: %ASA-6-302013: Built`, { _msg: '%ASA-6-302013: Built' });
  ok(`${at} fw : %ASA-6-302013: Built`, { hostname: 'fw', _msg: '%ASA-6-302013: Built' });
  ok(`${at} %ASA-6-302013: Built`, { _msg: '%ASA-6-302013: Built' });
  ok(`${at} Message forwarded from aix: su: text`, { hostname: 'aix', app_name: 'su', _msg: 'text' });
  ok('<34>148: *Nov 20 10:00:00.123 UTC: %SYS-5-CONFIG_I: x', { _msg: '%SYS-5-CONFIG_I: x' });
  ok('<34>2026-11-20T23:20:02.641Z host tag: text', { hostname: 'host', app_name: 'tag', _msg: 'text' });
  ok('<34>no time: text', { _msg: 'no time: text' });
  ok('<34>Foo 20 10:00:00 host app: text', { _msg: 'Foo 20 10:00:00 host app: text' });
  ok('<34>', { _msg: '<34>' });
  ok('Nov 20 10:00:00 host app[1]: no priority', { hostname: 'host', app_name: 'app', proc_id: '1', _msg: 'no priority' });

  it('reads the time', () => {
    expect(entry(`${at} host app: x`)['_time']).to.equal('2026-11-20T10:00:00Z');
    expect(entry('<34>148: *Nov 20 10:00:00.123 UTC: %SYS: x')['_time']).to.equal('2026-11-20T10:00:00.123Z');
    expect(entry('<34>2026-11-20T23:20:02.641+01:00 host tag: x')['_time']).to.equal('2026-11-20T22:20:02.641Z');
    expect(entry(`${at} host app: x`, { query: 'tz=America/New_York' })['_time']).to.equal('2026-11-20T15:00:00Z');
    expect(entry(`${at} host app: x`, { query: 'tz=+02:00' })['_time']).to.equal('2026-11-20T08:00:00Z');
  });
  it('refuses a zone that is none', () => {
    expect(normalize(syslog, at, { query: 'tz=Mars' })).to.deep.equal({
      status: 400,
      detail: 'The parameter tz, "Mars", is neither an offset such as +02:00 nor a time zone\'s name.',
    });
  });
});

describe('normalizer syslog: priorities and levels', () => {
  for (let priority = 0; priority <= 191; priority++) {
    it(`reads <${String(priority)}>`, () => {
      const found = entry(`<${String(priority)}>x`);
      expect(found['priority']).to.deep.equal({ json: String(priority) });
      expect(found['facility']).to.deep.equal({ json: String(priority >> 3) });
      expect(found['severity']).to.deep.equal({ json: String(priority & 7) });
      expect(found['level']).to.equal(['emerg', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'][priority & 7]);
      expect(found['facility_keyword']).to.match(/^[a-z0-9-]+$/);
    });
  }
  for (const text of ['<192>x', '<999>x', '<1000>x', '<01>x', '<>x', '<1x', '<-1>x', '<1', '<', '<1.>x', 'x<1>y'])
    it(`takes ${text} for a plain message`, () =>
      expect(entry(text)).to.have.all.keys('_time', '_stream', '_msg').and.include({ _msg: text }));

  it('prefers the text that a JSON message has as its level', () => {
    expect(entry(`${HEAD} - {"level":"WARN"}`)['level']).to.equal('WARN');
    expect(entry(`${HEAD} - {"level":30}`)['level']).to.equal('notice');
    expect(entry(`${HEAD} - {"severity":"ERROR"}`)['level']).to.equal('notice');
    expect(entry('{"level":30}')['level']).to.equal('info');
  });
});

describe('normalizer syslog: messages', () => {
  it('that are JSON objects keep their text and add fields, which override nothing', () => {
    const text = '{"a":{"b":1},"hostname":"x","service":"y","_msg":"z","priority":7,"__proto__":{"c":true}}';
    expect(entry(`${HEAD} - ${text}`)).to.deep.include({
      _msg: text,
      'a.b': { json: '1' },
      hostname: 'host',
      service: 'app',
      priority: { json: '165' },
      '__proto__.c': { json: 'true' },
    });
  });
  it('may begin with the cookie of CEE', () => {
    expect(entry(`${HEAD} - @cee: {"a":1}`)).to.deep.include({ _msg: '@cee: {"a":1}', a: { json: '1' } });
  });
  it('keep control characters, and lose only what is no UTF-8', () => {
    const frame = Buffer.concat([Buffer.from(`${HEAD} - a\0b\t\x1b[0m`), Buffer.from([0xff, 0xc3]), Buffer.from('z')]);
    expect(entry(frame)['_msg']).to.equal('a\0b\t\x1b[0m\ufffd\ufffdz');
  });
  it('may have a megabyte', () => {
    const text = 'é"\\'.repeat(250_000);
    expect(entry(`${HEAD} - ${text}`)['_msg']).to.equal(text);
  });
  it('of a body without any are a 400', () => {
    for (const body of ['', '\n', '\r\n\0\n'])
      expect(normalize(syslog, body)).to.deep.equal({ status: 400, detail: 'The body is empty; send syslog frames, one a line.' });
  });
  it('that cannot be taken are counted in a header', () => {
    const result = normalize(syslog, `${HEAD} - a\n<1>1 1899-01-01T00:00:00Z h a - - - b\n`);
    if (!('ack' in result)) throw new Error(result.detail);
    expect(result.ack).to.deep.equal({ status: 200, headers: { 'X-Rejected-Entries': '1' }, body: { status: 'ok', accepted: 1 } });
    expect(result.rejected[0]).to.include({ index: 1, reason: '_time is before the year 1900' });
  });
  it('are never lost, whatever stands in a line', () => {
    const pieces = [
      '<34>',
      '1 ',
      '- ',
      '[a b="c"]',
      'Nov 20 10:00:00 ',
      '2026-11-20T10:00:00Z ',
      'host ',
      'app[1]: ',
      '"',
      '\\',
      ' ',
      '%',
      ':',
      '12 ',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }), (line) => {
        const result = normalize(syslog, `${line.join('')}END`);
        if (!('entries' in result)) throw new Error(result.detail);
        const ends = result.entries.flatMap((taken) => [...taken.values()]).map(textOf);
        expect(ends.some((text) => text.endsWith('END'))).to.equal(true);
      }),
      { numRuns: extent(200, 2000) },
    );
  });

  /** Of 2 MB; what grows with the square of it is hundreds of times above its bound in either extent. */
  const share = extent(1 / 4, 1);
  const many = (text: string, bytes = 2_000_000 * share): string => text.repeat(Math.floor(bytes / text.length));
  const worst = [
    many('<1>'),
    many('<1>x\n'),
    many('x\n'),
    many('99999 <1>\n'),
    `${HEAD} ${many('[a b="c"]')}`,
    `${HEAD} [a ${many('b="c" ')}`,
    `${HEAD} [a b="${many('\\')}`,
    `${HEAD} [a b="${many('\\"')}"]`,
    many(`${HEAD} [\n`),
    Array.from({ length: 50_000 * share }, (_, i) => `<1>1 - - - - - [i${String(i)} n${String(i)}="v"] m`).join('\n'),
    `<1>Nov 20 10:00:00 ${many('h')}`,
    many('{"a":'),
    many('<1>148: *.\n'),
    many('<1>1 0000-00-00T00:00:00-00:00 h a p m - x\n'),
  ];
  for (const body of worst) {
    it(`of many bytes are read in time: ${JSON.stringify(body.slice(0, 60))}`, () => {
      const request = {
        path: '',
        contentType: '',
        query: new URLSearchParams(),
        header: () => '',
        maxBytes: body.length,
        receivedAt: RECEIVED_AT,
      };
      // in times of JSON.parse, which takes half as much on Node 24; what grows with the square takes thousands of times more
      expect(cpuCost(() => syslog.normalize({ ...request, body: Buffer.from(body) }, newWriter()))).to.be.below(1200 * share);
    }).timeout(240_000);
  }
});
