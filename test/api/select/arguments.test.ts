import { expect } from 'chai';
import fc from 'fast-check';
import type { Exchange } from '../../../api/http/exchange.ts';
import { countOf, durationOf, isTrue, readArguments, readSelection, stepOf, timeoutOf } from '../../../api/select/arguments.ts';
import { extraFilters } from '../../../api/select/extra-filters.ts';
import { LogsqlSyntaxError } from '../../../logsql/base/errors.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { MAX_TIME, MIN_TIME } from '../../../pipeline/core/time.ts';
import { NOW, entryOf, nanoseconds } from '../../logsql/support.ts';

const given = (parameters: Readonly<Record<string, string>>): URLSearchParams => new URLSearchParams(parameters);
const refused = (run: () => unknown): boolean => {
  try {
    run();
    return false;
  } catch (error) {
    if (error instanceof LogsqlSyntaxError || (error instanceof HttpError && error.status === 400)) return true;
    throw error;
  }
};

/** The arguments of a form. */
const ofForm = (text: string, type = 'application/x-www-form-urlencoded', query = ''): Promise<URLSearchParams> =>
  readArguments({
    method: 'POST',
    contentType: type.split(';')[0] ?? '',
    header: () => type,
    bodyAs: (made: (body: Buffer) => unknown) => Promise.resolve(made(Buffer.from(text))),
    query: new URLSearchParams(query),
  } as unknown as Exchange);

describe('the arguments of the read API', () => {
  it('are read from a form as from a URL, and before that', async () => {
    const text = 'query=a+b%2Bc%20d+%zz&limit=5&&empty&x=%C3%A9';
    for (const type of ['', 'application/x-www-form-urlencoded'])
      expect([...(await ofForm(text, type, 'limit=7'))]).to.deep.equal([...new URLSearchParams(text), ['limit', '7']]);
  });

  it('are a thousand at most, whatever the form', async () => {
    const message = 'A request has at most 1000 arguments.';
    const error = (form: Promise<unknown>): Promise<unknown> =>
      form.then(
        () => null,
        (thrown: unknown) => (thrown as Error).message,
      );
    expect((await ofForm('a&'.repeat(999) + 'b')).size).to.equal(1000);
    expect(await error(ofForm('a&'.repeat(1000)))).to.equal(message);
    expect(await error(ofForm('a&'.repeat(999) + 'b', '', 'c=d'))).to.equal(message);
    const part = '--b\r\nContent-Disposition: form-data; name="p"\r\n\r\nx\r\n';
    expect(await error(ofForm(`${part.repeat(1001)}--b--`, 'multipart/form-data; boundary=b'))).to.equal(message);
  });

  it('are all times without start and end; what is relative counts from time, else end, else now', () => {
    const at = (parameters: Readonly<Record<string, string>>) => readSelection(given({ query: '*', ...parameters }), NOW, 0).window;
    expect(at({})).to.deep.equal({ start: MIN_TIME, end: MAX_TIME, now: NOW });
    expect(at({ end: '2026-11-18T10:10:00Z' })).to.include({
      end: nanoseconds('2026-11-18T10:10:00.999999999Z'),
      now: nanoseconds('2026-11-18T10:10:00Z'),
    });
    expect(at({ end: '2026-11-18', time: '2026-11-17T00:00:00Z' }).now).to.equal(nanoseconds('2026-11-17T00:00:00Z'));
    expect(at({ start: '1794996000000' }).start).to.equal(1794996000000n * 1_000_000n);
    expect(at({ start: '-1h' }).start).to.equal(NOW - 3_600_000_000_000n);
    expect(readSelection(given({ query: '*' }), NOW, 1).window.start).to.equal(NOW - 86_400_000_000_000n);
  });

  for (const parameters of [
    {},
    { query: '' },
    { query: '  ' },
    { query: 'a AND (' },
    { query: '*', start: 'x' },
    { query: '*', end: '[' },
    { query: '*', time: '∞' },
    { query: '*', start: 'now', end: '-1h' },
    { query: 'x'.repeat(10_001) },
    { query: '*', extra_filters: 'a |' },
    { query: '*', extra_filters: '* | limit 1' },
    { query: '*', extra_filters: '{"a":1}' },
    { query: '*', extra_filters: '{"a":["b",2]}' },
    { query: '*', extra_filters: '{"a":{"b":"c"}}' },
    { query: '*', extra_filters: '{"a"' },
    { query: '*', extra_filters: '{"' + '['.repeat(20_000) },
    { query: '*', extra_filters: 'x:in(a | fields x)' },
    { query: '*', extra_filters: '!(b or x:in(a | fields x))' },
    { query: '*', extra_stream_filters: '{a=~"["}' },
    { query: '*', extra_stream_filters: '{"a":null}' },
  ] as const)
    it(`refuse ${JSON.stringify(parameters).slice(0, 100)}`, () => {
      expect(refused(() => readSelection(given(parameters), NOW, 0))).to.equal(true);
    });

  it('bound the number of extra filters', () => {
    const many = new URLSearchParams(Array.from({ length: 51 }, (): [string, string] => ['extra_filters', 'a']));
    expect(refused(() => extraFilters(many, NOW))).to.equal(true);
    const fields = Object.fromEntries(Array.from({ length: 51 }, (_none, at) => [`f${String(at)}`, 'x']));
    expect(refused(() => extraFilters(given({ extra_filters: JSON.stringify(fields) }), NOW))).to.equal(true);
  });

  it('take extra filters as LogsQL and as JSON', () => {
    const entry = entryOf({ _msg: 'm', _stream: '{app="a",env="prod"}', app: 'a', env: 'prod', __proto: 'x' });
    const matches = (parameters: Readonly<Record<string, string>>): boolean => extraFilters(given(parameters), NOW)?.matches(entry) ?? true;
    expect(matches({})).to.equal(true);
    expect(matches({ extra_filters: ' ' })).to.equal(true);
    expect(matches({ extra_filters: 'env:=prod or env:=dev' })).to.equal(true);
    expect(matches({ extra_filters: 'env:=dev' })).to.equal(false);
    expect(matches({ extra_filters: '{"env":"prod","app":["b","a"]}' })).to.equal(true);
    expect(matches({ extra_filters: '{"env":"pro"}' })).to.equal(false);
    expect(matches({ extra_filters: '{"env":[]}' })).to.equal(true);
    expect(matches({ extra_filters: '{"__proto__":"x"}' })).to.equal(false);
    expect(matches({ extra_stream_filters: '{"env":"prod","app":["b","a"]}' })).to.equal(true);
    expect(matches({ extra_stream_filters: '{"app":["b","."]}' })).to.equal(false);
    expect(matches({ extra_stream_filters: '{env="prod"}', extra_filters: 'app:b' })).to.equal(false);
  });

  it('match exactly the value that JSON names, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string({ minLength: 1, maxLength: 20 }), (value, name) => {
        fc.pre(value.isWellFormed() && name !== '_time' && name !== '_stream' && name !== '_stream_id');
        const entry = new Map([[name, value]]);
        const filter = extraFilters(given({ extra_filters: JSON.stringify({ [name]: value }) }), NOW);
        expect(filter?.matches(entry)).to.equal(true);
        expect(filter?.matches(new Map([[name, `${value}.`]]))).to.equal(false);
      }),
    );
  });

  it('are counts, durations and switches', () => {
    expect(countOf(given({ limit: '12' }), 'limit', 5)).to.equal(12);
    for (const limit of ['', '0']) expect(countOf(given({ limit }), 'limit', 5)).to.equal(5);
    for (const limit of ['-1', 'x', '1.5', '1e9e', '٣', 'NaN', 'Infinity', "1'"])
      expect(
        refused(() => countOf(given({ limit }), 'limit', 5)),
        limit,
      ).to.equal(true);
    expect(stepOf(given({}))).to.equal(86_400e9);
    expect(stepOf(given({ step: '1h30m' }))).to.equal(5400e9);
    expect(stepOf(given({ step: '60' }))).to.equal(60e9);
    for (const step of ['0', '-1m', 'x', '0.1ns', '1e400', 'inf', '9'.repeat(400), '999999999999', '99999y', '500y', '-500y'])
      expect(
        refused(() => stepOf(given({ step }))),
        step,
      ).to.equal(true);
    expect(durationOf(given({ offset: '-2h' }), 'offset', 0)).to.equal(-7200e9);
    expect(timeoutOf(given({ timeout: '2s' }))).to.equal(2000);
    for (const timeout of ['', '0', '-5s']) expect(timeoutOf(given({ timeout }))).to.equal(undefined);
    expect(isTrue(given({ a: '1' }), 'a')).to.equal(true);
    expect(isTrue(given({ a: '0' }), 'a')).to.equal(false);
  });
});
