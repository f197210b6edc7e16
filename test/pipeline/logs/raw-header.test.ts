import { expect } from 'chai';
import { headerOf } from '../../../pipeline/clusterer/headers/index.ts';
import { LAYOUTS } from '../../../pipeline/clusterer/headers/layouts.ts';
import { mayBegin } from '../../../pipeline/clusterer/headers/may-begin.ts';
import { formatTime } from '../../../pipeline/core/time.ts';
import { canonical, RECEIVED_AT } from './entry-lines.ts';

const RECEIVED = formatTime(RECEIVED_AT);
const entry = (members: object, options = {}): unknown => canonical(JSON.stringify(members), options);
const DAY_NS = 86_400_000_000_000n;

/** Lines as programs write them: the level and the time that each says. */
const LINES: readonly (readonly [what: string, line: string, level: string | undefined, time: string | undefined])[] = [
  ['logback', '2026-11-20 07:08:09.123 [main] ERROR com.shop.Orders - order 5 failed', 'error', undefined],
  ['logback with a zone', '2026-11-20T07:08:09.123Z  WARN 12 --- [main] com.shop.Orders : slow', 'warn', '2026-11-20T07:08:09.123Z'],
  ['Python', '2026-11-20 07:08:09,123 - shop.orders - WARNING - order 5 is late', 'warning', undefined],
  ['Python, without a format', 'ERROR:shop.orders:order 5 failed', 'error', undefined],
  ['zap', '2026-11-20T07:08:09.123+0100\tinfo\tshop/orders.go:12\torder 5 paid\t{"n": 1}', 'info', '2026-11-20T06:08:09.123Z'],
  ['slog', 'time=2026-11-20T07:08:09.123Z level=DEBUG msg="order 5 paid" user=bob', 'debug', '2026-11-20T07:08:09.123Z'],
  ['klog', 'E1120 07:08:09.123456    1234 shop.go:12] order 5 failed', 'error', undefined],
  ['nginx', '2026/11/20 07:08:09 [crit] 12#34: *56 no space left', 'crit', undefined],
  ['an access log', '10.0.0.7 - - [20/Nov/2026:07:08:09 +0000] "GET /orders/5 HTTP/1.1" 500 12', undefined, '2026-11-20T07:08:09Z'],
  ['Rails', 'W, [2026-11-20T07:08:09.123456 #1234]  WARN -- : order 5 is late', 'warn', undefined],
  ['Postgres', '2026-11-20 07:08:09.123 UTC [1234] shop@orders FATAL:  too many connections', 'fatal', '2026-11-20T07:08:09.123Z'],
  ['containerd around it', '2026-11-20T07:08:09.5Z stderr F ERROR:shop:order 5 failed', 'error', '2026-11-20T07:08:09.500Z'],
  [
    'Docker around it',
    '{"log":"ERROR:shop:order 5 failed\\n","stream":"stderr","time":"2026-11-20T07:08:09.5Z"}',
    'error',
    '2026-11-20T07:08:09.500Z',
  ],
  ['a sentence', 'order 5 failed: ERROR is what they say [2 of 3]', undefined, undefined],
];

describe('the header of a raw line', () => {
  for (const [what, line, level, time] of LINES)
    it(`says the level and the time of an entry that has neither: ${what}`, () => {
      const shown = entry({ _msg: line, app: 'a' });
      expect(shown).to.include({ _msg: line, _time: time ?? RECEIVED });
      expect((shown as { readonly level?: string }).level).to.equal(level);
    });

  it('says nothing where the entry, or its protocol, does', () => {
    const line = '2026-11-20T07:08:09.123Z ERROR [main] order 5 failed';
    expect(entry({ _msg: line, level: 'info', _time: '2026-11-21T01:00:00Z' })).to.include({
      level: 'info',
      _time: '2026-11-21T01:00:00Z',
    });
    expect(entry({ _msg: line, severity: 'notice' })).to.include({ level: 'notice', _time: '2026-11-20T07:08:09.123Z' });
    expect(entry({ _msg: line, ts: 1_795_269_000 })).to.include({ level: 'error', _time: '2026-11-21T13:50:00Z' });
    // what is empty is not there
    expect(entry({ _msg: line, level: '' })).to.include({ level: 'error' });
  });

  it('says no time that the tenant may not have entries of', () => {
    for (const [time, retentionDays] of [
      ['2026-11-20T07:08:09Z', 1],
      ['2026-11-29T07:08:09Z', 7],
      ['1812-11-29T07:08:09Z', 0],
    ] as const)
      expect(entry({ _msg: `${time} ERROR [main] failed` }, { retentionDays, receivedAt: RECEIVED_AT + DAY_NS }), time).to.include({ level: 'error', _time: formatTime(RECEIVED_AT + DAY_NS) }); // prettier-ignore
  });

  it('makes no field of an entry that has as many as may be', () => {
    const fields = Object.fromEntries(Array.from({ length: 999 }, (_none, index) => [`f${String(index)}`, '1']));
    const shown = entry({ _msg: '2026-11-20T07:08:09.123Z ERROR [main] failed', ...fields }) as Record<string, unknown>;
    expect(shown).to.include({ f998: '1' }).and.not.have.property('level');
  });

  it('is looked for wherever there may be one', () => {
    for (const { name, example } of LAYOUTS) {
      const bytes = Buffer.from(example);
      expect(mayBegin(bytes, 0, bytes.length), name).to.equal(true);
      expect(headerOf(bytes, 0, bytes.length).layout, name).to.equal(name);
    }
    for (const text of ['', 'a', '{', 'user bob logged in', '{"a":1}', 'GET /cart', 'é'])
      expect(mayBegin(Buffer.from(text), 0, Buffer.byteLength(text)), text).to.equal(false);
  });

  it('is found in bounded time, whatever stands there', () => {
    for (const piece of ['[', '[a', '1 ', '1:', 'a.', '10.0.0.7 - - [', '{"log":"', '<1>May  6 07:08:09 a ', '2026-11-20 07:08:09 [x] '])
      expect(entry({ _msg: piece.repeat(10_000) }), piece).to.have.property('_msg');
  });
});
