import { expect } from 'chai';
import fc from 'fast-check';
import { textOf } from '../../../pipeline/core/entry.ts';
import { nextAckId } from '../../../pipeline/normalizers/hec/ack-ids.ts';
import { hecRaw } from '../../../pipeline/normalizers/hec-raw.ts';
import { newWriter, RECEIVED_AT } from '../logs/entry-lines.ts';
import { messages, normalize, type Result } from './normalize.ts';

function taken(body: string | Buffer, query = ''): Result {
  const result = normalize(hecRaw, body, { query });
  if (!('entries' in result)) throw new Error(result.detail);
  return result;
}

describe('normalizer hec_raw', () => {
  it('gives every line the metadata of the request, which a line cannot override', () => {
    const { entries } = taken('{"host":"x","a":{"b":1},"level":"WARN"}\r\nplain\n', 'host=h&source=s&sourcetype=t&index=i');
    for (const entry of entries) expect(textOf(entry.get('_stream'))).to.equal('{host="h",index="i",source="s"}');
    expect(entries.map((entry) => [textOf(entry.get('host')), textOf(entry.get('sourcetype'))])).to.deep.equal([
      ['h', 't'],
      ['h', 't'],
    ]);
    expect(textOf(entries[0]?.get('a.b'))).to.equal('1');
    expect(textOf(entries[0]?.get('level'))).to.equal('WARN');
    expect(entries[1]?.has('level')).to.equal(false);
  });
  it('takes the time of a JSON line, and that of arrival for all others', () => {
    const { entries } = taken('a\n{"time":1795212000,"x":"b"}\nc');
    expect(entries.map((entry) => [textOf(entry.get('_msg')), textOf(entry.get('_time'))])).to.deep.equal([
      ['{"time":1795212000,"x":"b"}', '2026-11-20T22:00:00Z'],
      ['a', '2026-11-21T14:00:00Z'],
      ['c', '2026-11-21T14:00:00.000000002Z'],
    ]);
  });
  it('takes the time of the request for all lines', () => {
    const { entries } = taken('a\n{"time":1795212000}', 'time=1795212000.250');
    expect(entries.map((entry) => textOf(entry.get('_time')))).to.deep.equal(['2026-11-20T22:00:00.250Z', '2026-11-20T22:00:00.250Z']);
    const refused = normalize(hecRaw, 'a', { query: 'time=soon' });
    expect(refused).to.deep.include({ status: 400, detail: 'The parameter time, "soon", is not a time.' });
  });
  it('keeps every line as it is, but for its end', () => {
    const line = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.replaceAll('\n', '').replace(/\r+$/, '').toWellFormed());
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
        fc.pre(lines.some((text) => text !== '') && !lines.some((text) => text.startsWith('\ufeff') || text.trim().startsWith('{')));
        expect(messages(taken(lines.join(end)))).to.deep.equal(lines.filter((text) => text !== ''));
      }),
    );
  });
  it('keeps a line of a megabyte', () => {
    const line = '\ud83d\ude00 "\\'.repeat(150_000);
    expect(messages(taken(line))).to.deep.equal([line]);
  });
  it('takes more lines than a group has', () => {
    const lines = Array.from({ length: 2500 }, (_, i) => `line ${String(i)}`);
    const { entries } = taken(lines.join('\n'), 'host=h');
    expect(entries.map((entry) => textOf(entry.get('_msg')))).to.deep.equal(lines);
    expect(entries.every((entry) => textOf(entry.get('host')) === 'h')).to.equal(true);
  });
  it('refuses a body without a line', () => {
    for (const body of ['', '\r\n\n'])
      expect(normalize(hecRaw, body)).to.deep.equal({ status: 400, detail: 'The body is empty; send lines of text.' });
  });
  it('bounds what long metadata and many lines become', () => {
    const out = newWriter();
    const query = new URLSearchParams({ host: 'h'.repeat(60_000) });
    const body = Buffer.from('x\n'.repeat(100_000));
    hecRaw.normalize({ path: '', contentType: '', query, header: () => '', body, maxBytes: 200_000, receivedAt: RECEIVED_AT }, out);
    expect(out.accepted).to.be.within(1, 100);
    expect(out.total).to.equal(100_000);
    expect(out.rejected.first[0]?.reason).to.match(/^the fields shared by entries would take more than/);
  });
  it('answers as Splunk does', () => {
    expect(taken('a').ack).to.deep.equal({ status: 200, headers: {}, body: { text: 'Success', code: 0 } });
    const ids = ['channel=c1', 'channel=c2', 'channel=c1'].map((query) => taken('a', query).ack.body);
    expect(ids).to.deep.equal([0, 0, 1].map((ackId) => ({ text: 'Success', code: 0, ackId })));
    expect(taken('a\n{"_time":"never"}').ack.headers).to.deep.equal({ 'X-Rejected-Entries': '1' });
  });
});

describe('HEC acknowledgement ids', () => {
  it('count up for each channel', () => {
    expect([nextAckId('x'), nextAckId('y'), nextAckId('x')]).to.deep.equal([0, 0, 1]);
  });
  it('of channels that came long ago begin again', () => {
    nextAckId('long ago');
    for (let i = 0; i < 10_000; i++) nextAckId(`channel ${String(i)}`);
    expect(nextAckId('long ago')).to.equal(0);
  });
});
