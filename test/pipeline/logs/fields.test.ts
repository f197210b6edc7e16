import { expect } from 'chai';
import fc from 'fast-check';
import { Literal, textOf, type LogEntry } from '../../../pipeline/core/entry.ts';
import { LITERAL, STRING } from '../../../pipeline/logs/draft.ts';
import { FixedName, Names } from '../../../pipeline/logs/names.ts';
import { putMembers, type Value } from '../../../pipeline/logs/values.ts';
import type { EntryWriter } from '../../../pipeline/logs/writer.ts';
import { entriesOf, newWriter } from './entry-lines.ts';

const MSG = new FixedName('_msg');
const LEVEL = new FixedName('level');

/** The entries that `fill` writes, as plain objects; numbers and booleans as `{json}`. */
function written(fill: (out: EntryWriter) => void): Record<string, unknown>[] {
  const out = newWriter();
  fill(out);
  return entriesOf(out).map(plain);
}

function plain(entry: LogEntry): Record<string, unknown> {
  return Object.fromEntries([...entry].map(([name, value]) => [name, value instanceof Literal ? { json: value.text } : value]));
}

function one(fill: (out: EntryWriter) => void): Record<string, unknown> {
  const entries = written(fill);
  expect(entries).to.have.length(1);
  return entries[0] as Record<string, unknown>;
}

describe('an entry made field by field', () => {
  it('takes text, strings, literals and tokens', () => {
    const body = Buffer.from('raw \u0000 "q" \\ é\n\u001f {"t":"x y","n":1e3}');
    const at = body.indexOf('"x y"');
    const entry = one((out) => {
      const draft = out.begin(body);
      draft.putText(MSG.in(draft.names), body, 0, body.indexOf(' {'));
      draft.putString(draft.names.of('s'), 'a"b\ud83d');
      draft.putLiteral(draft.names.of('big'), '18446744073709551615');
      draft.putToken(draft.names.of('t'), STRING, at, at + 5);
      draft.putToken(draft.names.of('n'), LITERAL, at + 10, at + 13);
      out.timeIsNs(1_795_216_609_889_144_952n);
      out.end();
    });
    expect(entry).to.deep.equal({
      _time: '2026-11-20T23:16:49.889144952Z',
      _stream: '{}',
      _msg: 'raw \u0000 "q" \\ é\n\u001f',
      s: 'a"b\ufffd',
      big: { json: '18446744073709551615' },
      t: 'x y',
      n: { json: '1e3' },
    });
  });

  it('any text comes back as it was, whatever its bytes; what is no UTF-8 becomes U+FFFD', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ minLength: 1, maxLength: 300 }),
          fc.string({ minLength: 1, unit: 'binary' }).map((s) => Buffer.from(s)),
        ),
        (bytes) => {
          const body = Buffer.concat([Buffer.from('ab'), bytes, Buffer.from('cd')]);
          const entry = one((out) => {
            const draft = out.begin(body);
            draft.putText(MSG.in(draft.names), body, 2, body.length - 2);
            out.end();
          });
          expect(entry['_msg']).to.equal(Buffer.from(bytes).toString('utf8'));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('a long text too, and empty ones are missing', () => {
    const long = Buffer.from(`é"\n${'x'.repeat(1_000_000)}`);
    const entry = one((out) => {
      const draft = out.begin(long);
      draft.putText(MSG.in(draft.names), long, 0, long.length);
      draft.putText(draft.names.of('none'), long, 3, 3);
      draft.putString(draft.names.of('empty'), '');
      out.end();
    });
    expect(entry['_msg']).to.equal(long.toString());
    expect(entry).to.not.have.any.keys('none', 'empty');
  });

  it('an empty message is kept where the format says so', () => {
    const entry = one((out) => {
      const draft = out.begin(Buffer.alloc(0));
      draft.set(MSG.in(draft.names), STRING, '""');
      out.end();
    });
    expect(entry['_msg']).to.equal('');
  });

  it('without a message it is rejected, or keeps the fallback, or what its fields say best', () => {
    const fill = (fields: Record<string, string>, fallback?: string) => (out: EntryWriter) => {
      const draft = out.begin(Buffer.from('the entry'));
      for (const [name, value] of Object.entries(fields)) draft.putString(draft.names.of(name), value);
      out.end(fallback);
    };
    expect(one(fill({ a: '1' }, 'GET / 200'))['_msg']).to.equal('GET / 200');
    expect(one(fill({ 'exception.message': 'boom', 'event.name': 'e' }, ''))['_msg']).to.equal('boom');
    expect(one(fill({ 'event.name': 'click' }, ''))['_msg']).to.equal('click');
    expect(one(fill({ a: '1', 'b.c': '"' }, ''))['_msg']).to.equal('{"a":"1","b.c":"\\""}');
    const out = newWriter();
    fill({ app: '1', level: 'info' })(out);
    fill({ a: '1' })(out);
    expect(out.rejected.first.map(({ index, sample }) => ({ index, sample }))).to.deep.equal([{ index: 0, sample: 'the entry' }]);
    expect(entriesOf(out).map((entry) => entry.get('_msg'))).to.deep.equal(['{"a":"1"}']);
  });

  it('renames a field, over one of that name', () => {
    const body = Buffer.from('{"_a":"1","a":"0","_msg":"m"}');
    const entry = one((out) => {
      const draft = out.begin(body);
      out.readObject(0, body.length);
      draft.rename(draft.find(draft.names.of('_a')), draft.names.of('a'));
      out.end();
    });
    expect(entry).to.include({ a: '1', _msg: 'm' });
    expect(entry).to.not.have.property('_a');
  });

  it('the time of the protocol counts, and times in fields stay fields', () => {
    const entry = one((out) => {
      const draft = out.begin(Buffer.alloc(0));
      draft.putString(MSG.in(draft.names), 'm');
      draft.putString(draft.names.of('time'), 'noon');
      draft.putString(draft.names.of('ts'), '2026-01-01T00:00:00Z');
      expect(out.timeIsText('tomorrow')).to.equal(false);
      expect(out.timeIsText('0')).to.equal(true);
      expect(out.timeIsText('1795216609.5')).to.equal(true);
      out.end();
    });
    expect(entry).to.include({ _time: '2026-11-20T23:16:49.500Z', time: 'noon', ts: '2026-01-01T00:00:00Z' });
  });
});

describe('a group of entries', () => {
  it('each begins with what was held, and with its stream', () => {
    const body = Buffer.from('one two');
    const entries = written((out) => {
      const draft = out.begin(body, 0, 0);
      draft.putString(draft.names.of('app'), 'web');
      draft.putString(draft.names.of('host'), 'h1');
      out.streamIs([
        ['app', 'web'],
        ['zone', 'z'],
      ]);
      draft.hold();
      for (const [from, to] of [
        [0, 3],
        [4, 7],
      ] as const) {
        out.again(from, to);
        draft.putText(MSG.in(draft.names), body, from, to);
        if (from === 0) draft.putString(draft.names.of('host'), 'other');
        else draft.putString(draft.names.of('app'), '');
        out.timeIs(1_795_216_609 + from, 0);
        out.end();
      }
    });
    for (const entry of entries) delete entry['_time'];
    expect(entries).to.deep.equal([
      { _stream: '{app="web",zone="z"}', _msg: 'one', app: 'web', host: 'other' },
      { _stream: '{app="web",zone="z"}', _msg: 'two', host: 'h1' },
    ]);
  });

  it('a problem of what is held rejects each of them', () => {
    const out = newWriter();
    const draft = out.begin(Buffer.from('ab'), 0, 0);
    draft.putString(draft.names.of('x'.repeat(300)), 'v');
    draft.hold();
    for (let i = 0; i < 2; i++) {
      out.again(i, i + 1);
      draft.putString(MSG.in(draft.names), 'm');
      out.end();
    }
    expect(out.rejected.first.map(({ sample }) => sample)).to.deep.equal(['a', 'b']);
    expect(out.accepted).to.equal(0);
  });
});

describe('a line that is a JSON object', () => {
  const entryOf = (line: string): Record<string, unknown> =>
    one((out) => {
      const body = Buffer.from(line);
      const draft = out.begin(body);
      draft.putText(MSG.in(draft.names), body, 0, body.length);
      draft.putString(LEVEL.in(draft.names), 'info');
      draft.readLine(body, 0, body.length);
      out.timeIs(1_795_216_609, 0);
      out.end();
    });

  it('keeps its text, and its members become fields that override nothing', () => {
    const line = ' {"_msg":"x","level":"error","user":{"id":12345678901234567890},"__proto__":"p","a":[1, 2]} ';
    expect(entryOf(line)).to.deep.equal({
      _time: '2026-11-20T23:16:49Z',
      _stream: '{}',
      _msg: line,
      level: 'info',
      'user.id': { json: '12345678901234567890' },
      ['__proto__']: 'p',
      a: '[1,2]',
    });
  });

  const notTaken = ['{', '[1]', '{"a":1} x', '{"a":}', `{"a":${'['.repeat(70)}${']'.repeat(70)}}`, `{"${'n'.repeat(300)}":1}`];
  for (const line of notTaken) {
    it(`is text alone where it is something else: ${line.slice(0, 20)}`, () => {
      expect(entryOf(line)).to.deep.equal({ _time: '2026-11-20T23:16:49Z', _stream: '{}', _msg: line, level: 'info' });
    });
  }

  it('of more fields than an entry may have: text alone', () => {
    const line = JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${String(i)}`, i])));
    expect(Object.keys(entryOf(line))).to.have.members(['_time', '_stream', '_msg', 'level']);
  });
});

describe('values in memory', () => {
  it('become fields: maps flattened, lists as JSON text, every digit kept', () => {
    const members = new Map<string, Value>([
      ['_msg', 'm'],
      ['n', 1.5],
      ['big', 2n ** 64n],
      ['nan', NaN],
      ['flag', false],
      ['none', null],
      ['bytes', Buffer.from('é')],
      ['binary', Buffer.from([0xff, 0])],
      ['list', [1, 'a', null, new Map([['k', 2n ** 60n]])]],
      ['map', new Map<string, Value>([['__proto__', new Map<string, Value>([['x', 'y']])]])],
      ['literal', new Literal('1.50')],
    ]);
    const entry = one((out) => {
      const draft = out.begin(Buffer.alloc(0));
      putMembers(draft, '', members);
      out.end();
    });
    delete entry['_time'];
    expect(entry).to.deep.equal({
      _stream: '{}',
      _msg: 'm',
      n: { json: '1.5' },
      big: { json: '18446744073709551616' },
      nan: 'NaN',
      flag: { json: 'false' },
      bytes: 'é',
      binary: 'ff00',
      list: '[1,"a",null,{"k":1152921504606846976}]',
      'map.__proto__.x': 'y',
      literal: { json: '1.50' },
    });
  });

  it('nested too deep: the entry is rejected', () => {
    for (const wrap of [(value: Value): Value => [value], (value: Value): Value => new Map([['a', value]])]) {
      let value: Value = 1;
      for (let depth = 0; depth < 100; depth++) value = wrap(value);
      const out = newWriter();
      const draft = out.begin(Buffer.alloc(0));
      putMembers(
        draft,
        '',
        new Map([
          ['_msg', 'm'],
          ['deep', value],
        ]),
      );
      out.end();
      expect(out.rejected.first.map(({ reason }) => reason)).to.deep.equal(['nested deeper than 64 levels']);
    }
  });
});

describe('names by bytes', () => {
  it('are the names of their text', () => {
    const names = new Names();
    const bytes = Buffer.from('user.id');
    expect(names.ofBytes(bytes, 0, 4)).to.equal(names.of('user'));
    expect(names.ofBytes(bytes, 0, 4)).to.equal(names.of('user'));
    expect(names.ofBytes(Buffer.from([0xff]), 0, 1).text).to.equal('\ufffd');
    expect(textOf(names.of('user').text)).to.equal('user');
  });
});

describe('what the rows of a request may take', () => {
  it('bounds them together, and rejects what goes beyond', () => {
    const out = newWriter({ maxRowBytes: 10_000 });
    const body = Buffer.from('{"_msg":"0123456789"}');
    for (let i = 0; i < 1000; i++) out.object(body, 0, body.length);
    const bytes = out.chunks().reduce((sum, chunk) => sum + chunk.size, 0);
    expect(bytes).to.be.within(10_000, 10_200);
    expect(out.accepted + out.rejected.count).to.equal(1000);
    expect(new Set(out.rejected.first.map(({ reason }) => reason))).to.deep.equal(
      new Set(['the entries before it take more than 10000 bytes as they are stored']),
    );
  });

  it('an entry that would be stored as more than a record of Kafka takes is rejected', () => {
    const out = newWriter();
    const body = Buffer.alloc(2_000_000, 1);
    const draft = out.begin(body);
    draft.putText(MSG.in(draft.names), body, 0, body.length);
    out.end();
    expect(out.rejected.first.map(({ reason }) => reason)).to.deep.equal(['longer than 8000000 bytes as it would be stored']);
  });
});
