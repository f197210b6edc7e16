import { expect } from 'chai';
import fc from 'fast-check';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { normalizers, replayNormalizers, sampleNormalizers, spanNormalizers } from '../../pipeline/normalizers/index.ts';
import { normalize, type RequestOptions } from '../pipeline/normalizers/normalize.ts';
import { takeEvents, type TakenEvent } from '../pipeline/replay/take-events.ts';
import { takeSamples, type TakenSample } from '../pipeline/samples/take-samples.ts';
import { takeSpans, type TakenSpan } from '../pipeline/traces/take-spans.ts';
import { extent } from '../extent.ts';

const root = path.resolve(import.meta.dirname, '../..');

type Taken = ReturnType<typeof normalize> | ReturnType<typeof takeSpans> | ReturnType<typeof takeSamples> | ReturnType<typeof takeEvents>;

/** A row as JSON has it. */
const rowOf = (entry: LogEntry | TakenSpan | TakenSample | TakenEvent): unknown =>
  entry instanceof Map
    ? Object.fromEntries([...entry].map(([name, value]) => [name, typeof value === 'string' ? value : { json: textOf(value) }]))
    : entry;

/** What a fixture's body became, as its `.json` holds it. */
function golden(result: Taken): unknown {
  if (!('entries' in result)) return result;
  const entries = result.entries.map((entry) => rowOf(entry));
  const rejected = result.rejected.map(({ index, reason }) => ({ index, reason }));
  const ack = Buffer.isBuffer(result.ack.body) ? { ...result.ack, body: { hex: result.ack.body.toString('hex') } } : result.ack;
  return { entries, rejected, ack };
}

/** The envelope of a fixture's request: `x.request.json` beside `x.in`, where it matters. */
function envelopeOf(file: string): RequestOptions {
  const envelope = file.replace(/\.in$/, '.request.json');
  return existsSync(envelope) ? (JSON.parse(readFileSync(envelope, 'utf8')) as RequestOptions) : {};
}

/** Every normalizer, and how its rows are read. */
const all = [
  ...normalizers.members.map((normalizer) => ({
    ...normalizer,
    take: (body: Buffer, envelope: RequestOptions): Taken => normalize(normalizer, body, envelope),
  })),
  ...spanNormalizers.members.map((normalizer) => ({
    ...normalizer,
    take: (body: Buffer, envelope: RequestOptions): Taken => takeSpans(normalizer, body, envelope),
  })),
  ...sampleNormalizers.members.map((normalizer) => ({
    ...normalizer,
    take: (body: Buffer, envelope: RequestOptions): Taken => takeSamples(normalizer, body, envelope),
  })),
  ...replayNormalizers.members.map((normalizer) => ({
    ...normalizer,
    take: (body: Buffer, envelope: RequestOptions): Taken => takeEvents(normalizer, body, envelope),
  })),
];

for (const normalizer of all) {
  describe(`normalizer ${normalizer.name}: contract`, () => {
    const fixtures = path.join(root, 'test/fixtures/normalizers', normalizer.name);
    const bodies = existsSync(fixtures) ? readdirSync(fixtures).filter((file) => file.endsWith('.in')) : [];

    it('has a name, paths, methods and fixtures', () => {
      expect(normalizer.name).to.match(/^[a-z][a-z0-9_]*$/);
      expect(normalizer.paths).to.not.be.empty;
      expect(normalizer.methods).to.include('POST');
      expect(bodies, fixtures).to.have.length.of.at.least(3);
    });

    for (const file of bodies) {
      it(`gives for ${file} what its .json says`, () => {
        const body = readFileSync(path.join(fixtures, file));
        const expected = path.join(fixtures, file.replace(/\.in$/, '.json'));
        const result = JSON.parse(JSON.stringify(golden(normalizer.take(body, envelopeOf(path.join(fixtures, file)))))) as unknown;
        // UPDATE=1 writes what it is now; look at the difference before committing it
        if (process.env['UPDATE'] === '1') writeFileSync(expected, `${JSON.stringify(result, null, 2)}\n`);
        expect(result).to.deep.equal(JSON.parse(readFileSync(expected, 'utf8')));
      });
    }

    /** Any body ends in entries and rejections that add up, or in an HttpError 400 or 413; nothing else may come out. */
    const survives = (body: Buffer, envelope: RequestOptions): void => {
      const result = normalizer.take(body, envelope);
      if ('status' in result) expect(result.status).to.be.oneOf([400, 413]);
      else expect(result.ack.status).to.be.oneOf([200, 202, 204, ...(normalizer.errors === 'metrics' ? [400] : [])]);
    };
    const envelopes = [{}, ...bodies.map((file) => envelopeOf(path.join(fixtures, file)))];
    it('survives random bytes', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 400 }), fc.constantFrom(...envelopes), (bytes, envelope) =>
          survives(Buffer.from(bytes), envelope),
        ),
        { numRuns: extent(60, 500) },
      );
    });
    it('survives damaged fixtures', () => {
      const seeds = bodies.map((file) => {
        const whole = path.join(fixtures, file);
        return { bytes: readFileSync(whole), envelope: envelopeOf(whole) };
      });
      const damage = fc.tuple(fc.constantFrom(...seeds), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.nat());
      fc.assert(
        fc.property(damage, ([seed, flips, cut]) => {
          const body = Buffer.from(seed.bytes);
          for (const [at, value] of flips) body[at % Math.max(1, body.length)] = value;
          survives(cut % 3 === 0 ? body.subarray(0, cut % Math.max(1, body.length)) : body, seed.envelope);
        }),
        { numRuns: extent(150, 1000) },
      );
    });
    it('counts every entry once', () => {
      for (const file of bodies) {
        const result = normalizer.take(readFileSync(path.join(fixtures, file)), envelopeOf(path.join(fixtures, file)));
        if (!('entries' in result)) continue;
        expect(result.entries.length + result.rejectedCount, file).to.equal(result.total);
        expect(new Set(result.rejected.map(({ index }) => index)).size, file).to.equal(result.rejected.length);
      }
    });
    it('leaves the prototype of objects alone', () => {
      for (const file of bodies) normalizer.take(readFileSync(path.join(fixtures, file)), envelopeOf(path.join(fixtures, file)));
      expect(({} as { x?: unknown }).x).to.equal(undefined);
    });
  });
}
