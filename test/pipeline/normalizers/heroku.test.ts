import { expect } from 'chai';
import { textOf } from '../../../pipeline/core/entry.ts';
import { heroku } from '../../../pipeline/normalizers/heroku.ts';
import { messages, normalize } from './normalize.ts';

const frame = (text: string): string => `${String(Buffer.byteLength(text))} ${text}`;
const HEAD = '<190>1 2026-11-20T23:29:54.747000+00:00 host app web.1 -';

describe('normalizer heroku', () => {
  const ok = (name: string, body: string, expected: string[]): void => {
    it(name, () => expect(messages(normalize(heroku, body, { contentType: 'application/logplex-1' }))).to.have.members(expected));
  };
  ok('keeps the first word, since there is no structured data', frame(`${HEAD} - not nil\n`), ['- not nil']);
  ok('keeps brackets', frame(`${HEAD} [a b="c"] d\n`), ['[a b="c"] d']);
  ok('keeps line feeds inside of a frame', frame(`${HEAD} a\nb é\n`) + frame(`${HEAD} c\n`), ['a\nb é', 'c']);
  ok('takes frames without counts', `${HEAD} a\n${HEAD} b\n`, ['a', 'b']);
  ok('takes a count that is wrong', `9999 ${HEAD} a\n${frame(`${HEAD} b\n`)}`, ['a', 'b']);
  ok('keeps a frame without a message whole', frame(`${HEAD}\n`), [HEAD]);
  ok('takes what is no frame at all', 'Error L10 (output buffer overflow)\n', ['Error L10 (output buffer overflow)']);

  it('names app, dyno and drain', () => {
    const result = normalize(heroku, frame(`${HEAD} a\n`), { headers: { 'logplex-drain-token': 'd.1' } });
    if (!('entries' in result)) throw new Error(result.detail);
    const [entry] = result.entries;
    const found = ['service', 'app_name', 'proc_id', 'msg_id', 'hostname', 'drain_token', 'level', '_stream', '_time'];
    expect(found.map((name) => textOf(entry?.get(name)))).to.deep.equal([
      'app',
      'app',
      'web.1',
      '',
      'host',
      'd.1',
      'info',
      '{facility="23",hostname="host",service="app"}',
      '2026-11-20T23:29:54.747Z',
    ]);
    expect(result.ack).to.deep.equal({ status: 200, headers: {}, body: { status: 'ok', accepted: 1 } });
  });
  it('does not store a drain token that is too long with every frame', () => {
    const result = normalize(heroku, frame(`${HEAD} a\n`), { headers: { 'logplex-drain-token': 'd'.repeat(257) } });
    expect('entries' in result && result.entries[0]?.has('drain_token')).to.equal(false);
  });
  it('refuses an empty body', () => expect(normalize(heroku, '\n')).to.have.property('status', 400));
});
