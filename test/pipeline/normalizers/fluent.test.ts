import { expect } from 'chai';
import { extent } from '../../extent.ts';
import { cpuCost } from '../../fakes/cpu-cost.ts';
import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { textOf, type LogEntry } from '../../../pipeline/core/entry.ts';
import { fluent } from '../../../pipeline/normalizers/fluent.ts';
import { messages, normalize, type RequestOptions, type Result } from './normalize.ts';
import { eventTime, Ext, map, pack, type Packable } from './pack.ts';

const MEGABYTE = 1_048_576;
const record = (message: string): Packable => map(['log', message]);

function taken(body: string | Buffer, options: RequestOptions = {}): Result {
  const result = normalize(fluent, body, options);
  if (!('entries' in result)) throw new Error(`${String(result.status)} ${result.detail}`);
  return result;
}

const plain = (entry: LogEntry | undefined): Record<string, string> =>
  Object.fromEntries([...(entry ?? [])].map(([name, value]) => [name, textOf(value)]));

describe('normalizer fluent: JSON', () => {
  const ok = (name: string, body: string, expected: string[]): void => {
    it(name, () => expect(messages(normalize(fluent, body))).to.deep.equal(expected));
  };
  ok('takes an array', '[{"log":"a"},{"message":"b"}]', ['a', 'b']);
  ok('takes NDJSON', '{"log":"a"}\r\n\n{"log":"b"}', ['a', 'b']);
  ok('takes objects without separators', '{"log":"a"}{"log":"b"}{"log":"c"}', ['a', 'b', 'c']);
  ok('takes objects over several lines', '{\n"log":"a"\n}\n{"log":\n"b"}', ['a', 'b']);
  ok('takes several arrays', '[{"log":"a"}]\n[{"log":"b"}] [] [{"log":"c"}]', ['a', 'b', 'c']);
  ok('takes a byte order mark', '\ufeff{"log":"a"}', ['a']);
  ok('takes an empty array', '[]', []);
  ok('takes the forward protocol', '["t",[[0,{"log":"a"}],[0,{"log":"b"}]]]["t",0,{"log":"c"}][0,{"log":"d"}]', ['a', 'b', 'c', 'd']);
  ok('keeps a record without a message', '{"k":1}', ['{"k":1}']);

  it('loses nothing but the line that is no JSON', () => {
    const { entries, rejected } = taken('{"log":"a"}\n{"log":\n{"log":"b"}\n{"log":"c"}}\n{"log":"d"}');
    expect(entries.map((entry) => entry.get('_msg'))).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(rejected.map(({ index }) => index)).to.deep.equal([1, 4]);
  });
  it('keeps what stands before the fault of an array', () => {
    const { entries, rejected, ack } = taken('[{"log":"a"},7,{"log":"b"},{"log"]');
    expect(entries).to.have.length(2);
    expect(rejected.map(({ index, reason }) => [index, reason])).to.deep.equal([
      [1, 'neither a record nor a time and a record'],
      [3, 'not a JSON array: unexpected "]" at byte 33; what follows is not read'],
    ]);
    expect(ack).to.deep.equal({ status: 200, headers: { 'X-Rejected-Entries': '2' }, body: { status: 'ok', accepted: 2 } });
  });

  const bad = (name: string, body: string, detail: RegExp): void => {
    it(name, () => {
      const result = normalize(fluent, body);
      expect('status' in result && result.status).to.equal(400);
      expect('status' in result && result.detail).to.match(detail);
    });
  };
  bad('refuses an empty body', ' \n', /empty/);
  bad('refuses a body of which nothing is readable', '{"log":\nhello', /^Nothing of the body could be read: not a JSON object/);
  bad('refuses a list of numbers', '[1,2,3]', /^Nothing of the body/);
});

describe('normalizer fluent: tag', () => {
  for (const [name, options] of Object.entries({
    'the query': { query: 'tag=app.log' },
    'the header X-Tag': { headers: { 'x-tag': 'app.log' } },
    'the header Fluent-Tag': { headers: { 'fluent-tag': 'app.log' } },
  }))
    it(`is read from ${name}`, () => {
      const [entry] = taken('{"log":"a"}', options).entries;
      expect(plain(entry)).to.include({ tag: 'app.log', _stream: '{tag="app.log"}' });
    });
  it('of a forward message goes before that of the request, and a record may have its own', () => {
    const { entries } = taken('["m",[[0,{"log":"a"}],[0,{"log":"b","tag":"own"}]]]{"log":"c"}', { query: 'tag=q' });
    expect(entries.map((entry) => entry.get('tag'))).to.deep.equal(['m', 'own', 'q']);
  });
  it('of more than 256 bytes is refused', () => {
    expect(normalize(fluent, '{"log":"a"}', { query: `tag=${'é'.repeat(129)}` })).to.deep.equal({
      status: 400,
      detail: 'The request has a tag longer than 256 bytes.',
    });
    expect(taken(`["${'t'.repeat(257)}",0,{"log":"a"}]{"log":"b"}`).rejected[0]?.reason).to.equal('a tag longer than 256 bytes');
  });
});

describe('normalizer fluent: MessagePack', () => {
  const times: [string, Packable, string][] = [
    ['an EventTime', eventTime(1_795_216_541, 774_000_001), '2026-11-20T23:15:41.774000001Z'],
    ['an EventTime and metadata', [eventTime(1_795_216_541, 0), map()], '2026-11-20T23:15:41Z'],
    ['seconds', 1_795_216_541n, '2026-11-20T23:15:41Z'],
    ['seconds with a fraction', 1_795_216_541.5, '2026-11-20T23:15:41.500Z'],
    ['a timestamp of 32 bits', new Ext(-1, Buffer.from('6b00d49d', 'hex')), '2026-11-20T23:15:41Z'],
    ['a timestamp of 64 bits', new Ext(-1, Buffer.from('000000046b00d49d', 'hex')), '2026-11-20T23:15:41.000000001Z'],
    ['a timestamp of 96 bits', new Ext(-1, Buffer.from('00000001000000006b00d49d', 'hex')), '2026-11-20T23:15:41.000000001Z'],
    ['zero', 0, '2026-11-21T14:00:00Z'],
    ['nothing', null, '2026-11-21T14:00:00Z'],
  ];
  for (const [name, time, expected] of times)
    it(`reads ${name} as the time`, () => {
      const body = pack([time, record('a')]);
      expect(plain(taken(body).entries[0])).to.include({ _time: expected, _msg: 'a' });
    });
  it('rejects a record whose time is none, alone', () => {
    const body = Buffer.concat([
      pack([new Ext(5, Buffer.alloc(8)), record('a')]),
      pack([eventTime(1, 2_000_000_000), record('b')]),
      pack(record('c')),
    ]);
    const { entries, rejected } = taken(body);
    expect(entries.map((entry) => entry.get('_msg'))).to.deep.equal(['c']);
    expect(rejected.map(({ reason }) => reason)).to.deep.equal(['_time is not a time', '_time is not a time']);
  });
  it("passes over Fluent Bit's markers of groups, and keeps metadata", () => {
    const marker = (end: boolean): Buffer => pack([[eventTime(end ? 0xffff_fffe : 0xffff_ffff, 0), map()], map(['resource', 'r'])]);
    const entry = pack([[eventTime(1_795_216_541, 0), map(['otlp', map(['severity', 9])])], record('a')]);
    const { entries, rejected, total } = taken(Buffer.concat([marker(false), entry, marker(true)]));
    expect({ rejected, total }).to.deep.equal({ rejected: [], total: 1 });
    expect(plain(entries[0])).to.include({ _msg: 'a', 'metadata.otlp.severity': '9' });
  });
  it('takes packed and gzipped streams of the forward protocol', () => {
    const stream = Buffer.concat([pack([eventTime(1_795_216_541, 0), record('a')]), pack([1_795_216_542n, record('b')])]);
    const option = map(['compressed', 'gzip']);
    const body = Buffer.concat([pack(['t1', stream]), pack(['t2', gzipSync(stream), option]), pack(['t3', [[0, record('c')]]])]);
    const { entries, rejected } = taken(body);
    expect(rejected).to.deep.equal([]);
    expect(entries.map((entry) => `${textOf(entry.get('tag'))} ${textOf(entry.get('_msg'))}`).sort()).to.deep.equal([
      ...['t1 a', 't1 b', 't2 a', 't2 b', 't3 c'],
    ]);
  });
  it('rejects a corrupt stream alone, and one inside of a stream', () => {
    const nested = pack(['inner', pack([0, record('x')])]);
    const body = Buffer.concat([pack(['t', Buffer.from('1f8b00', 'hex')]), pack(['t', nested]), pack(record('a'))]);
    const { entries, rejected } = taken(body);
    expect(entries.map((entry) => entry.get('_msg'))).to.deep.equal(['a']);
    expect(rejected).to.have.length(2);
  });
  it('refuses streams that decompress beyond the cap', () => {
    const bomb = gzipSync(Buffer.alloc(1.2 * MEGABYTE));
    expect(normalize(fluent, Buffer.concat([pack(['t', bomb]), pack(['t', bomb])]))).to.have.property('status', 413);
  });
  it('keeps what stands before the cut', () => {
    const body = Buffer.concat([pack(record('a')), pack(record('b'))]);
    const { entries, rejected } = taken(body.subarray(0, body.length - 1));
    expect(entries.map((entry) => entry.get('_msg'))).to.deep.equal(['a']);
    expect(rejected[0]?.reason).to.match(/^not MessagePack, or cut off, at byte 7/);
  });
  it('rejects a record nested too deep, or with a key that is a map', () => {
    let deep: Packable = 1;
    for (let depth = 0; depth < 70; depth++) deep = map(['k', deep]);
    let list: Packable = 1;
    for (let depth = 0; depth < 70; depth++) list = [list];
    const { rejected } = taken(Buffer.concat([pack(deep), pack(map(['l', list])), Buffer.from([0x81, 0x81, 1, 2, 3]), pack(record('a'))]));
    expect(rejected.map(({ reason }) => reason)).to.deep.equal([
      'nested deeper than 64 levels',
      'nested deeper than 64 levels',
      'a key of a map that is an array or a map',
    ]);
  });

  it('gives the same entries as JSON', () => {
    const name = fc.oneof(
      fc.constantFrom('log', 'level', '__proto__', 'constructor', '_msg', 'a.b', '0'),
      fc.string({ minLength: 1, maxLength: 8 }),
    );
    const scalar = fc.oneof(
      fc.constantFrom(null, true, false, ''),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
      fc.string({ unit: 'grapheme' }),
    );
    const { value } = fc.letrec<{ value: Packable }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        scalar,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((members) => new Map(members)),
      ),
    }));
    const members = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 8 }).map((all) => new Map(all));
    fc.assert(
      fc.property(members, (all) => {
        const packed = normalize(fluent, pack(all));
        const json = normalize(fluent, jsonOf(all));
        const seen = (result: typeof packed): unknown =>
          'entries' in result ? [result.entries.map(plain), result.rejectedCount] : result.status;
        expect(seen(packed)).to.deep.equal(seen(json));
      }),
    );
  });
});

/** JSON in which a map's members keep their order and any name. */
function jsonOf(value: Packable): string {
  if (value instanceof Map)
    return `{${[...(value as ReadonlyMap<string, Packable>)].map(([key, item]) => `${JSON.stringify(key)}:${jsonOf(item)}`).join(',')}}`;
  return Array.isArray(value) ? `[${(value as Packable[]).map(jsonOf).join(',')}]` : JSON.stringify(value);
}

describe('normalizer fluent: hostile bodies of 2 MB', () => {
  const filled = (bytes: readonly number[], size = 2 * MEGABYTE): Buffer => Buffer.alloc(size, Buffer.from(bytes));
  const bodies: Record<string, Buffer> = {
    'open arrays': filled([0x91]),
    'open maps': filled([0x81]),
    'counts that cannot be': filled([0xdf, 0xff, 0xff, 0xff, 0xff]),
    'empty maps': filled([0x80]),
    'open JSON arrays': filled([0x5b]),
    'open JSON objects, one a line': Buffer.alloc(2 * MEGABYTE, '{"a":\n'),
    'a list of numbers': Buffer.from(`[${'1,'.repeat(MEGABYTE - 2)}1]`),
    'streams in streams': nestedStreams(),
  };
  for (const [name, body] of Object.entries(bodies))
    it(`answers ${name} in time`, () => {
      expect(cpuCost(() => normalize(fluent, body, { timed: true }))).to.be.below(300);
    });
  it('takes tags only as far as the rows they make are few', () => {
    // how many there are is a multiple of the cap
    const maxBytes = extent(MEGABYTE / 4, 2 * MEGABYTE);
    const { entries, rejected, rejectedCount } = taken(filled([0x81, 0xa1, 0x61, 0x01], maxBytes), { query: `tag=${'t'.repeat(256)}`, maxBytes }); // prettier-ignore
    expect(rejected[0]?.reason).to.equal('the tags of all entries of this request are too long');
    expect(entries.length + rejectedCount).to.equal(maxBytes / 4);
  }).timeout(240_000);
});

function nestedStreams(): Buffer {
  let body = pack(record('a'));
  for (let depth = 0; depth < 4000; depth++) body = pack(['t', body]);
  return body;
}
