import { expect } from 'chai';
import { headerOf } from '../../../pipeline/clusterer/headers/index.ts';
import { LAYOUTS } from '../../../pipeline/clusterer/headers/layouts.ts';
import { formatTime } from '../../../pipeline/core/time.ts';
import { cpuMs } from '../../cpu-time.ts';
import { extent } from '../../extent.ts';
import { generatedMessages } from './generated-messages.ts';

type Read = { readonly layout: string; readonly content: string; readonly level: string | null; readonly time: string | null };

function read(line: string): Read {
  const bytes = Buffer.from(line);
  const { layout, contentAt, contentEnd, level, time } = headerOf(bytes, 0, bytes.length);
  return { layout, content: bytes.toString('utf8', contentAt, contentEnd), level, time: time === null ? null : formatTime(time) };
}

const AT = '2024-05-06T07:08:09.123Z';
/** Line, layout, content, level, time. */
const LINES: readonly (readonly [string, string, string, string | null, string | null])[] = [
  ['2024-05-06 07:08:09,123 INFO  [main] com.example.Shop: order 5 paid', 'time_first', 'order 5 paid', 'info', null],
  ['2024-05-06 07:08:09,123 - INFO  [Worker[id=1]/0:0:0:2181:Shop@774] - order 5 paid', 'time_first', 'order 5 paid', 'info', null],
  ['07:08:09.123 [main] WARN  com.example.Shop - order 5 paid', 'time_first', 'order 5 paid', 'warn', null],
  ['2024-05-06T07:08:09.123Z  INFO 1234 --- [nio-1] c.e.shop.Shop  : order 5 paid', 'time_first', 'order 5 paid', 'info', AT],
  ['2024-05-06 07:08:09,123 - shop.orders - ERROR - order 5 paid', 'time_first', 'order 5 paid', 'error', null],
  ['2024/05/06 07:08:09 order 5 paid', 'time_first', 'order 5 paid', null, null],
  ['2024/05/06 07:08:09 shop.go:12: order 5 paid', 'time_first', 'shop.go:12: order 5 paid', null, null],
  ['2024/05/06 07:08:09 5 orders paid', 'time_first', '5 orders paid', null, null],
  ['2024-05-06T07:08:09.123Z\tINFO\tshop\torders/shop.go:12\torder 5 paid', 'time_first', 'order 5 paid', 'info', AT],
  ['2024-05-06T09:08:09.123+0200\tERROR\torders/shop.go:12\torder 5 paid', 'time_first', 'order 5 paid', 'error', AT],
  ['240506 070809 148 INFO shop.Orders$Worker: order 5 paid', 'time_first', 'order 5 paid', 'info', null],
  ['2024-05-06 07:08:09.123 25746 INFO shop.api.server [req-1 - - -] order 5 paid', 'time_first', 'order 5 paid', 'info', null],
  ['shop.log 2024-05-06 07:08:09.123 [ERROR] order 5 paid', 'time_first', 'order 5 paid', 'error', null],
  ['<13>May  6 07:08:09 web-1 shop: order 5 paid', 'syslog', 'order 5 paid', null, null],
  ['May 16 07:08:09 web-1 shop(pam_unix)[12]: order 5 paid', 'syslog', 'order 5 paid', null, null],
  ['2024-05-06T07:08:09.123+00:00 web-1 shop[12]: order 5 paid', 'syslog', 'order 5 paid', null, null],
  [
    '2024-05-06T07:08:09.123456789Z stderr F W0506 07:08:09.123456       1 shop.go:12] order 5 paid',
    'cri',
    'order 5 paid',
    'warn',
    '2024-05-06T07:08:09.123456789Z',
  ],
  ['May  6 07:08:09 lb haproxy[12]: 10.0.0.7:50 [06/May/2024:07:08:09.123] web web/s1 1/2 200', 'syslog', 'web web/s1 1/2 200', null, null],
  [
    '{"log":"2024-05-06 07:08:09 WARN shop: order 5 paid\\n","stream":"stdout","time":"2024-05-06T07:08:09.123Z"}',
    'docker_json',
    'order 5 paid',
    'warn',
    AT,
  ],
  ['[Mon May 06 07:08:09 2024] [error] order 5 paid', 'apache_error', 'order 5 paid', 'error', null],
  ['order 5 paid', '', 'order 5 paid', null, null],
  ['', '', '', null, null],
  ['{"msg":"order 5 paid"}', '', '{"msg":"order 5 paid"}', null, null],
  ['[order] 5 paid', '', '[order] 5 paid', null, null],
  ['99:99:99 order', 'time_first', 'order', null, null],
];

/** What the table's own examples say besides their content. */
const SAID: Readonly<Record<string, readonly [string | null, string | null]>> = {
  docker_json: [null, '2024-05-06T07:08:09.123456789Z'],
  cri: [null, '2024-05-06T07:08:09.123456789Z'],
  klog: ['info', null],
  apache_error: ['error', null],
  nginx_error: ['error', null],
  access: [null, '2024-05-06T07:08:09Z'],
  rails: ['info', null],
  postgres: ['log', AT],
  mysql: ['warning', '2024-05-06T07:08:09.123456Z'],
  slog: ['info', AT],
  logcat: ['debug', null],
  clickhouse: ['information', null],
  uvicorn: ['info', null],
  python_basic: ['warning', null],
};

describe('the headers of raw lines', () => {
  for (const { name, example } of LAYOUTS)
    it(`${name}: its example has a header and keeps its content`, () => {
      const header = read(example);
      expect(header.layout).to.equal(name);
      expect(header.content).to.match(/order 5 paid|orders\/5/);
      expect(header.content.length).to.be.below(example.length);
      expect([header.level, header.time]).to.deep.equal(SAID[name] ?? [null, null]);
    });

  for (const [line, layout, content, level, time] of LINES)
    it(JSON.stringify(line), () => expect(read(line)).to.deep.equal({ layout, content, level, time }));

  it('are read within the line alone, wherever it lies in a buffer', () => {
    for (const [line] of LINES) {
      const inner = Buffer.from(line);
      const bytes = Buffer.concat([Buffer.from('2024-05-06 INFO '), inner, Buffer.from('","stream":" x: y')]);
      const own = headerOf(inner, 0, inner.length);
      const other = headerOf(bytes, 16, 16 + inner.length);
      expect(other).to.deep.equal({ ...own, contentAt: own.contentAt + 16, contentEnd: own.contentEnd + 16 });
    }
  });

  it('leave content inside the line, whatever the line is', () => {
    const heads = [...LAYOUTS.map(({ example }) => example), ...LINES.map(([line]) => line)];
    let index = 0;
    for (const message of generatedMessages(extent(4000, 300_000), 3)) {
      const head = Buffer.from(heads[index++ % heads.length] as string);
      const bytes = Buffer.concat([head.subarray(0, (index * 7) % (head.length + 1)), message]);
      const { contentAt, contentEnd } = headerOf(bytes, 0, bytes.length);
      expect(contentAt >= 0 && contentAt <= contentEnd && contentEnd <= bytes.length).to.equal(true);
    }
  });

  const HOSTILE = [
    '[',
    '[a',
    '1 ',
    '- ',
    'a.',
    'a',
    '2024-05-06 07:08:09 ',
    '2024-05-06 07:08:09 [[] ',
    '07:08:09 INFO 1 1 ',
    'May  6 07:08:09 a b',
  ];
  for (const piece of HOSTILE)
    it(`take time that is bounded: ${piece}`, () => {
      const bytes = Buffer.from('2024-05-06 07:08:09 INFO '.slice(0, piece.length > 4 ? 0 : 25) + piece.repeat(100_000));
      const before = cpuMs();
      for (let round = 0; round < 200; round += 1) headerOf(bytes, 0, bytes.length);
      expect(cpuMs() - before).to.be.below(1000);
    });
});
