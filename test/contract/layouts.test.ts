import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { framesOf, readFrames } from '../../pipeline/rows/frames.ts';
import { extent } from '../extent.ts';
import { layouts } from './layouts.ts';

const contentOf = (value: Buffer): Buffer => Buffer.from(readFrames(value, Buffer.alloc(0)) ?? []);
const valueOf = (content: Buffer): Buffer => framesOf((to) => to.put(content));
const fixture = (name: string): Buffer =>
  Buffer.from(readFileSync(path.join(import.meta.dirname, '../fixtures/records', `${name}.base64`), 'utf8'), 'base64');

for (const { layout, row, written } of layouts)
  describe(`the layout ${layout.name}`, () => {
    const some = fc.array(row, { minLength: 1, maxLength: 8 });

    it('gives rows back as they were put in', () => {
      fc.assert(
        fc.property(some, (rows) => {
          expect(layout.read(layout.encode(rows), rows.length)).to.deep.equal(rows);
        }),
        { numRuns: extent(50, 1000) },
      );
    });

    it('finds what is wrong with a value that is cut off or longer, and with other numbers of rows', () => {
      const [rows = []] = fc.sample(some, { numRuns: 1, seed: 4711 });
      const value = layout.encode(rows);
      for (const count of [-1, 0, rows.length - 1, rows.length + 1, 60_000, 60_001, NaN])
        expect(layout.check(value, count), String(count)).to.be.a('string');
      const content = contentOf(value);
      const step = Math.max(1, Math.floor(content.length / 500));
      for (let length = 0; length < content.length; length += step)
        expect(layout.check(valueOf(content.subarray(0, length)), rows.length), String(length)).to.be.a('string');
      expect(layout.check(valueOf(Buffer.concat([content, Buffer.from([0])])), rows.length)).to.equal('1 bytes follow its last column');
      for (let length = 0; length < value.length; length += step)
        expect(layout.check(value.subarray(0, length), rows.length)).to.be.a('string');
    });

    it('reads any bytes as so many rows, or says what is wrong with them', () => {
      fc.assert(
        fc.property(some, fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), (rows, place, flip, isContent) => {
          const bytes = isContent ? contentOf(layout.encode(rows)) : layout.encode(rows);
          bytes[place % bytes.length] = (bytes[place % bytes.length] ?? 0) ^ flip;
          const found = layout.read(isContent ? valueOf(bytes) : bytes, rows.length);
          return typeof found === 'string' || found.length === rows.length;
        }),
        { numRuns: extent(150, 5000) },
      );
    });

    if (written === undefined) return;
    it('writes and reads records as earlier versions do, byte for byte', () => {
      expect(layout.encode(written).equals(fixture(layout.name))).to.equal(true);
      expect(layout.read(fixture(layout.name), written.length)).to.deep.equal(written);
    });
  });
