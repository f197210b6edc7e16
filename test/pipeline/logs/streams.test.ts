import { expect } from 'chai';
import xxhash from 'xxhash-wasm';
import { labelValue, renderStream } from '../../../pipeline/core/labels.ts';
import { hashBytes } from '../../../pipeline/core/byte-map.ts';
import { Draft } from '../../../pipeline/logs/draft.ts';
import { idText } from '../../../pipeline/logs/id-text.ts';
import { Names } from '../../../pipeline/logs/names.ts';
import { Streams, type Stream } from '../../../pipeline/logs/streams.ts';
import { StringColumn } from '../../../pipeline/rows/string-column.ts';
import { StringView } from '../../../pipeline/rows/string-view.ts';
import { readStreams } from '../../fakes/log-record.ts';
import { TokenTable } from '../../../pipeline/logs/token-table.ts';
import { EntryCodec, EntryWriter } from '../../../pipeline/logs/writer.ts';
import { Random } from '../../fuzz/random.ts';
import { entriesOf, newWriter, RECEIVED_AT } from './entry-lines.ts';
import { extent } from '../../extent.ts';

const { h64 } = await xxhash();
const streamIdOf = (text: string): string => h64(text).toString();

/** The text of a stream. */
function textOf(stream: Stream): string {
  const column = new StringColumn(16);
  stream.writeText(column);
  const view = new StringView();
  view.read(column.bytes.subarray(0, column.length), 0, 1);
  return column.bytes.toString('utf8', view.starts[0], view.ends[0]);
}

/** The streams of entries, in the order in which they were seen first. */
function streamsOf(entries: readonly object[], streamFields: readonly string[] | null, codec = new EntryCodec()): string[] {
  const writer = new EntryWriter(codec, { tenantId: 1, partitions: [0], retentionDays: 0, receivedAt: RECEIVED_AT, streamFields });
  for (const entry of entries) writer.add({ _msg: 'm', ...entry });
  expect(writer.rejected.first).to.deep.equal([]);
  return writer.chunks().flatMap(({ streams }) => [...readStreams(streams).toMap()].map(([id, { text }]) => `${id} ${text}`));
}

describe('the text of a 64-bit id', () => {
  it('is that of a bigint', () => {
    const random = new Random(3);
    const halves = [0, 1, -1, 999_999, 1_000_000, 0x7fffffff, -0x80000000];
    for (let i = 0; i < 2000; i++) halves.push(random.below(2 ** 32) | 0);
    for (let i = 0; i < halves.length; i++) {
      const [high = 0, low = 0] = [halves[i], halves[(i * 7 + 3) % halves.length]];
      expect(idText(high, low)).to.equal(((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)).toString());
      expect(idText(0, high)).to.equal(String(high >>> 0));
    }
  });

  it('is the same in a row as in what is known of the stream', () => {
    const writer = newWriter();
    for (let i = 0; i < 3000; i++) writer.add({ _msg: 'm', host: `h${i}` });
    const streams = entriesOf(writer).map((entry) => entry.get('_stream'));
    expect(streams).to.have.members(Array.from({ length: 3000 }, (_, i) => `{host="h${i}"}`));
  });
});

describe('the stream of an entry', () => {
  const values = [
    'web',
    '',
    'a"b',
    'back\\slash',
    'line\nfeed',
    'tab\t',
    'ünïcode',
    '\u2028',
    '😀',
    '\u007f',
    '/',
    'x'.repeat(5000),
    `${'x'.repeat(2047)}ü`,
    '😀'.repeat(600),
    '\n'.repeat(2048),
    '\n'.repeat(2049),
    5,
    1.5,
    true,
    0,
  ];
  const names = ['app', 'host', 'a b', 'ü', '"q"', '{x}', 'service.name', '1st', 'z'];

  it('is that of its labels, however their values are written, and its id is XXH64 of the text', () => {
    const random = new Random(1);
    const codec = new EntryCodec();
    for (let i = 0; i < extent(500, 2000); i++) {
      const entry = Object.fromEntries(names.filter(() => random.below(2) === 0).map((name) => [name, random.pick(values)]));
      const text = renderStream(Object.entries(entry).map(([name, value]) => [name, labelValue(String(value))] as const));
      expect(streamsOf([entry], names, codec)).to.deep.equal([`${streamIdOf(text)} ${text}`]);
    }
  }).timeout(30_000);

  it('is the same by an escape that need not be, and by a number and its text', () => {
    const writer = newWriter();
    for (const json of ['{"_msg":"m","host":"a/b"}', '{"_msg":"m","host":"a\\/b"}', '{"_msg":"m","host":"\\u0061/b"}'])
      writer.object(Buffer.from(json), 0, json.length);
    writer.add({ _msg: 'm', host: '5' });
    writer.add({ _msg: 'm', host: 5 });
    const ids = writer.chunks().flatMap(({ streams }) => [...readStreams(streams).toMap().values()].map(({ text }) => text));
    expect(new Set(ids)).to.deep.equal(new Set(['{host="a/b"}', '{host="5"}']));
  });

  it('of tokens beyond 64 KiB is right too', () => {
    const names = Array.from({ length: 60 }, (_, i) => `l${String(i)}`);
    const long = Object.fromEntries(names.map((name) => [name, 'h'.repeat(1500)]));
    const text = renderStream(Object.entries(long));
    expect(streamsOf([long, long, { l0: 'b' }], names)).to.deep.equal([text, '{l0="b"}'].map((one) => `${streamIdOf(one)} ${one}`));
  });

  it('has values of 2,048 bytes at most, cut between characters; the field stays whole', () => {
    const writer = newWriter();
    const hosts = ['h'.repeat(2048), 'h'.repeat(100_000), `${'h'.repeat(2047)}ü`, '\\'.repeat(3000)];
    for (const host of hosts) writer.add({ _msg: 'm', host });
    const entries = entriesOf(writer);
    expect(entries.map((entry) => entry.get('host'))).to.have.members(hosts);
    expect(new Set(entries.map((entry) => entry.get('_stream')))).to.deep.equal(
      new Set(['h'.repeat(2048), 'h'.repeat(2047), '\\'.repeat(2048)].map((host) => renderStream([['host', host]]))),
    );
  });

  it('is once in what a record says of its streams', () => {
    const entries = Array.from({ length: 1000 }, (_, i) => ({ host: `h${i % 7}` }));
    expect(streamsOf(entries, null)).to.have.lengthOf(7);
  });

  it('of a set that a protocol gives is the same as of the tokens', () => {
    const streams = new Streams(new Names());
    const given = streams.ofPairs([['host', 'a'], ['app', 'b']]); // prettier-ignore
    expect(streamsOf([{ host: 'a', app: 'b' }], null)).to.deep.equal([`${idText(given.high, given.low)} ${textOf(given)}`]);
    expect(streams.ofPairs([['app', 'b'], ['host', 'a'], ['x', '']])).to.equal(streams.ofPairs([['host', 'a'], ['app', 'b']])); // prettier-ignore
  });
});

describe('label names that requests choose', () => {
  it('are forgotten: 100,000 sets leave few behind, and the names are not held', () => {
    const codec = new EntryCodec();
    for (let i = 0; i < 100_000; i++) codec.tableOf([`made_up_${i}`, `other_${i}`]);
    const table = codec.tableOf(['made_up_0']);
    expect(codec.tableOf(['made_up_0'])).to.equal(table);
    expect(codec.tableOf(['made_up_99999', 'other_99999'])).to.not.equal(table);
    // a request that ends in 400 has learnt no name
    expect(codec.draft.names.age).to.equal(0);
  });

  it('stay while they are in use, whatever others come by', () => {
    const codec = new EntryCodec();
    const mine = codec.tableOf(['mine']);
    for (let i = 0; i < 10_000; i++) {
      codec.tableOf([`made_up_${i}`]);
      if (i % 50 === 0) expect(codec.tableOf(['mine'])).to.equal(mine);
    }
  });

  it('count also after all names were forgotten', () => {
    const codec = new EntryCodec();
    const wanted = [`${streamIdOf('{mine="1"}')} {mine="1"}`];
    for (let round = 0; round < 3; round++) {
      expect(streamsOf([{ mine: 1 }], ['mine'], codec)).to.deep.equal(wanted);
      for (let i = 0; i < 25_000; i++) codec.draft.names.of(`field_${round}_${i}`);
    }
    expect(codec.draft.names.age).to.be.greaterThan(1);
  });
});

describe('a table of tokens', () => {
  const key = (i: number): Buffer => Buffer.from(`key ${i}`);
  const hashOf = (bytes: Buffer): number => hashBytes(bytes, 0, bytes.length);

  it('finds what was added, through all growth, and nothing else', () => {
    const table = new TokenTable();
    for (let i = 0; i < 20_000; i++)
      expect(table.add(key(i), 0, key(i).length, hashOf(key(i)), { high: i, low: -i, mark: i * 2 ** 33 })).to.equal(i);
    for (let i = 0; i < 20_000; i++) {
      const padded = Buffer.concat([Buffer.from('__'), key(i), Buffer.from('__')]);
      const index = table.find(padded, 2, padded.length - 2, hashOf(key(i)));
      expect([table.high(index), table.low(index), table.mark(index)]).to.deep.equal([i, i === 0 ? 0 : -i, i * 2 ** 33]);
    }
    expect(table.find(key(20_000), 0, key(20_000).length, hashOf(key(20_000)))).to.equal(-1);
    table.setMark(5, 77);
    expect(table.mark(5)).to.equal(77);
    expect(table.clear().find(key(1), 0, key(1).length, hashOf(key(1)))).to.equal(-1);
    expect(table.add(key(1), 0, key(1).length, hashOf(key(1)), { high: 1, low: 1, mark: 0 })).to.equal(0);
  });
});

describe('the memory of streams', () => {
  const LABELS = ['service', 'env', 'host'];
  const line = '{"_msg":"m","service":"checkout-service","env":"production","host":"node-00000000"}';
  const body = Buffer.from(line);

  /** The streams of hosts that are given by their numbers. */
  function ofHosts(streams: Streams, draft: Draft): (host: number) => string {
    const table = streams.table(LABELS);
    return (host) => {
      body.write(String(host).padStart(8, '0'), line.indexOf('00000000'));
      draft.begin(body);
      draft.readObject(0, body.length);
      return textOf(table.of(draft));
    };
  }

  it('is bounded, and what is in use stays', () => {
    const names = new Names();
    const streams = new Streams(names, { items: 2000, bytes: 1e6 });
    const read = ofHosts(streams, new Draft(names));
    const HOT = 500;
    const ROUNDS = 60;
    const memory = (): number => process.memoryUsage().arrayBuffers;
    let [before, wrong] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      for (let host = 0; host < 1000; host++) {
        const fresh = 1000 + round * 1000 + host;
        if (!read(fresh).includes(String(fresh).padStart(8, '0'))) wrong += 1;
        read(host % HOT);
      }
      if (round === 9) before = memory();
    }
    expect(wrong).to.equal(0);
    // each new one once, and those in use once
    expect(streams.hashed).to.equal(ROUNDS * 1000 + HOT);
    expect(memory() - before).to.be.below(4e6);
  });

  it('is bounded by bytes too', () => {
    const names = new Names();
    const streams = new Streams(names, { items: 1e6, bytes: 10_000 });
    const read = ofHosts(streams, new Draft(names));
    for (let host = 0; host < 1000; host++) read(host);
    read(999);
    expect(streams.hashed).to.equal(1000);
    read(0);
    expect(streams.hashed).to.equal(1001);
  });

  it('does not mix what different sets of names find', () => {
    const names = new Names();
    const streams = new Streams(names);
    const draft = new Draft(names);
    draft.begin(Buffer.from('{"a":"1","b":"1"}'));
    draft.readObject(0, 17);
    const texts = [['a'], ['b'], ['a', 'b'], ['c']].map((labels) => textOf(streams.table(labels).of(draft)));
    expect(texts).to.deep.equal(['{a="1"}', '{b="1"}', '{a="1",b="1"}', '{}']);
  });
});
