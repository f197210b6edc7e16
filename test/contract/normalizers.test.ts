import { expect } from 'chai';
import fc from 'fast-check';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { textOf } from '../../pipeline/core/entry.ts';
import { normalizers } from '../../pipeline/normalizers/index.ts';
import { normalize } from '../pipeline/normalizers/normalize.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** What a fixture's body became, as its `.json` holds it. */
function golden(result: ReturnType<typeof normalize>): unknown {
  if (!('entries' in result)) return result;
  const entries = result.entries.map((entry) =>
    Object.fromEntries([...entry].map(([name, value]) => [name, typeof value === 'string' ? value : { json: textOf(value) }])),
  );
  return { entries, rejected: result.rejected, ack: result.ack };
}

for (const normalizer of normalizers.members) {
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
        const result = JSON.parse(JSON.stringify(golden(normalize(normalizer, body)))) as unknown;
        // UPDATE=1 writes what it is now; look at the difference before committing it
        if (process.env['UPDATE'] === '1') writeFileSync(expected, `${JSON.stringify(result, null, 2)}\n`);
        expect(result).to.deep.equal(JSON.parse(readFileSync(expected, 'utf8')));
      });
    }

    /** Any body ends in entries and rejections that add up, or in an HttpError 400; nothing else may come out. */
    const survives = (body: Buffer): void => {
      const result = normalize(normalizer, body);
      if ('status' in result) expect(result.status).to.equal(400);
      else expect(result.ack.status).to.be.oneOf([200, 202, 204]);
    };
    it('survives random bytes', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => survives(Buffer.from(bytes))),
        { numRuns: 500 },
      );
    });
    it('survives damaged fixtures', () => {
      const seeds = bodies.map((file) => readFileSync(path.join(fixtures, file)));
      const damage = fc.tuple(fc.constantFrom(...seeds), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.nat());
      fc.assert(
        fc.property(damage, ([seed, flips, cut]) => {
          const body = Buffer.from(seed);
          for (const [at, value] of flips) body[at % body.length] = value;
          survives(cut % 3 === 0 ? body.subarray(0, cut % body.length) : body);
        }),
        { numRuns: 1000 },
      );
    });
    it('counts every entry once', () => {
      for (const file of bodies) {
        const result = normalize(normalizer, readFileSync(path.join(fixtures, file)));
        if (!('entries' in result)) continue;
        expect(result.entries.length + result.rejected.length, file).to.equal(result.total);
        expect(new Set(result.rejected.map(({ index }) => index)).size, file).to.equal(result.rejected.length);
      }
    });
    it('leaves the prototype of objects alone', () => {
      for (const file of bodies) normalize(normalizer, readFileSync(path.join(fixtures, file)));
      expect(({} as { x?: unknown }).x).to.equal(undefined);
    });
  });
}
