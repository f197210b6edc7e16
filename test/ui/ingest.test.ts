import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { filled } from '../../web/ui/ingest/filled.ts';
import { SNIPPETS, snippetOf } from '../../web/ui/start/snippets.ts';
import { forecast, limitFigure, limitName, rates, rateText } from '../../web/ui/usage/figures.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const WAYS = readFileSync(path.join(ROOT, 'web/ui/ingest/ways.ts'), 'utf8');
const EXAMPLES = [...WAYS.matchAll(/'#shippers\/(\S+)\?raw'/g)].map(([, file = '']) => file);
const KEY = 'lw_secret_$&_1';

describe('ways to send', () => {
  it('are those of the examples', () => expect(EXAMPLES.length).to.be.greaterThan(10));

  for (const file of EXAMPLES)
    for (const url of ['https://logs.shop.example', 'http://10.1.2.3:8080'])
      it(`${file} has the address ${url} and the key, and nothing of this machine`, () => {
        const text = filled(readFileSync(path.join(ROOT, 'examples/shippers', file), 'utf8'), url, KEY);
        expect(text).to.contain(KEY).and.contain(new URL(url).hostname);
        expect(text).to.not.match(/\bKEY\b|LOGWEIR_API_KEY|Not run by|logs\.example\.com|127\.0\.0\.1:8081|serverport="8081"/);
        expect(text.replace(/endpoint: 127\.0\.0\.1:4318/, '')).to.not.contain('127.0.0.1');
        // a request in the clear to a service that has TLS is refused, or worse
        if (url.startsWith('https:')) expect(text).to.match(/https:\/\/|tls\s+on|usehttps="on"/);
        else
          expect(text)
            .to.contain('8080')
            .and.not.match(/https:\/\/(?:10|KEY)/);
      });

  for (const snippet of SNIPPETS)
    it(`${snippet.id} has the address and the key`, () =>
      expect(snippetOf(snippet, 'http://10.1.2.3:8080', KEY))
        .to.contain('http://10.1.2.3:8080/')
        .and.contain(KEY)
        .and.not.match(/\{URL\}|\{KEY\}/));
});

describe('the figures of a usage', () => {
  const HOUR_MS = 36e5;

  it('go on at the pace of the day, once an hour of it is gone', () => {
    const midnight = Date.UTC(2026, 10, 21);
    expect(forecast(6e9, midnight + 6 * HOUR_MS)).to.equal(24e9);
    expect(forecast(6e9, midnight + HOUR_MS / 2)).to.equal(null);
    expect(forecast(0, midnight + 23 * HOUR_MS)).to.equal(0);
  });

  it('have names and units of limits, also of those that are not known', () => {
    expect([limitName('daily_volume'), limitName('ai_credits.explain'), limitName('what_is_new'), limitName('__proto__')]).to.deep.equal([
      ...['Volume of the day', 'AI: explain', 'what is new', '  proto  '],
    ]);
    expect([limitFigure({ unit: 'bytes' }, 2e9), limitFigure({ unit: 'keys' }, 1200)]).to.deep.equal(['2.0 GB', '1,200']);
  });

  it('have entries a second of those that send', () => {
    const key = (id: string, entries: number, signal = 'logs') => ({ key_id: id, name: id === 'a' ? 'web' : null, signal, entries });
    const before = { at: 1000, keys: [key('a', 100), key('b', 7), key('a', 5, 'metrics')] };
    const now = { at: 5000, keys: [key('a', 300), key('b', 7), key('a', 5, 'metrics'), key('c', 2)] };
    expect(rates(before, now)).to.deep.equal([
      { id: 'a logs', name: 'web', signal: 'logs', rate: 50 },
      { id: 'c logs', name: 'c', signal: 'logs', rate: 0.5 },
    ]);
    // a day that began anew counts from nothing
    expect(rates(now, { ...before, at: 9000 })).to.deep.equal([]);
    expect(rates(now, now)).to.deep.equal([]);
    expect([rateText(0.5), rateText(1203)]).to.deep.equal(['0.5', '1,203']);
  });
});
