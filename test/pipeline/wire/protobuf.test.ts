import { expect } from 'chai';
import fc from 'fast-check';
import { HttpError, httpErrorOf } from '../../../pipeline/core/errors.ts';
import { fixed64Tag, lengthTag, ProtobufReader, varintTag } from '../../../pipeline/wire/protobuf.ts';
import { bytesField, doubleField, fixed64Field, varint, varintField } from '../normalizers/protobuf-writer.ts';
import { extent } from '../../extent.ts';

const read = <T>(bytes: Buffer, how: (reader: ProtobufReader) => T): T => how(new ProtobufReader(bytes));

describe('protobuf reader', () => {
  it('reads int64 with every digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const bytes = varint(value);
        read(bytes, (reader) => {
          expect(reader.int64Text()).to.equal(String(value));
          expect(reader.at).to.equal(bytes.length);
        });
        expect(read(bytes, (reader) => reader.int64())).to.equal(Number(value));
      }),
    );
  });
  it('reads varints of 32 bits, and the low ones of longer varints', () => {
    for (const value of [0, 1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 32 - 1])
      expect(read(varint(value), (r) => r.varint32())).to.equal(value);
    expect(read(varint(-1n), (reader) => reader.varint32())).to.equal(2 ** 32 - 1);
    expect(read(varint(2n ** 40n + 5n), (reader) => reader.varint32())).to.equal(5);
    expect(
      read(Buffer.from([0x85, 0x80, 0x00]), (reader) => reader.varint32()),
      'with needless bytes',
    ).to.equal(5);
  });
  it('reads small varints, and leaves others where they are', () => {
    for (const [bytes, value] of [
      [[0], 0],
      [[127], 127],
      [[0x80, 1], 128],
      [[0xff, 0xff, 0xff, 0x7f], 2 ** 28 - 1],
      [[0x80, 0x80, 0x80, 0x80, 1], -1],
      [[0x80], -1],
      [[], -1],
    ] as const) {
      // prettier-ignore
      const reader = new ProtobufReader(Buffer.from([...bytes, 1]));
      // the last byte is behind the message
      reader.seek(0, bytes.length);
      expect([reader.smallVarint(), reader.at]).to.deep.equal([value, value < 0 ? 0 : bytes.length]);
    }
    const reader = new ProtobufReader(Buffer.from([1, 2]));
    reader.seek(1, 1);
    expect(() => reader.varint32()).to.throw('corrupt');
  });

  it('splits nanoseconds without losing one', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (ns) => {
        const time = { seconds: 0, nanos: 0 };
        read(fixed64Field(1, ns).subarray(1), (reader) => reader.nanoseconds(time));
        expect(BigInt(time.seconds) * 1_000_000_000n + BigInt(time.nanos)).to.equal(ns);
        expect(time.nanos).to.be.within(0, 999_999_999);
      }),
    );
  });
  it('reads doubles', () => {
    for (const value of [0.1, -0, NaN, Infinity, 5e-324]) {
      const found = read(doubleField(1, value).subarray(1), (reader) => reader.double());
      expect(Object.is(found, value)).to.equal(true);
    }
  });
  it('walks nested messages, and passes over every wire type', () => {
    const group = Buffer.concat([Buffer.from([0x4b]), bytesField(1, 'x'), Buffer.from([0x53, 0x54]), Buffer.from([0x4c])]);
    const inner = Buffer.concat([varintField(7, 300), group, bytesField(2, 'text'), fixed64Field(3, 1n), Buffer.from([0x25, 1, 2, 3, 4])]);
    const found: string[] = [];
    read(Buffer.concat([bytesField(1, inner), varintField(2, 9)]), (reader) => {
      while (reader.at < reader.end) {
        const tag = reader.tag();
        if (tag === varintTag(2)) found.push(String(reader.varint32()));
        if (tag !== lengthTag(1)) continue;
        const outer = reader.enter();
        while (reader.at < reader.end) {
          const field = reader.tag();
          if (field !== lengthTag(2)) reader.skip(field);
          else {
            const end = reader.enter();
            found.push(reader.bytes.toString('utf8', reader.at, reader.end));
            reader.leave(end);
          }
        }
        reader.leave(outer);
      }
    });
    expect(found).to.deep.equal(['text', '9']);
  });

  const bad = (name: string, bytes: number[], how: (reader: ProtobufReader) => unknown, detail: RegExp): void => {
    it(name, () => {
      try {
        read(Buffer.from(bytes), how);
      } catch (error) {
        expect(httpErrorOf(error)).to.be.instanceOf(HttpError).and.to.include({ status: 400, slug: 'invalid_body' });
        expect((error as Error).message).to.match(detail);
        return;
      }
      expect.fail('it was read');
    });
  };
  const skip = (reader: ProtobufReader): void => {
    while (reader.at < reader.end) reader.skip(reader.tag());
  };
  bad('refuses a varint that does not end', [0x80, 0x80], (reader) => reader.varint32(), /at byte \d: (index out of range|invalid varint)/);
  bad(
    'refuses a varint of 11 bytes',
    new Array<number>(10).fill(0xff).concat(1),
    (reader) => reader.varint32(),
    /at byte 10: invalid varint encoding/,
  );
  bad('refuses a length beyond the end', [0x0a, 3, 1, 2], skip, /at byte 2: index out of range: 2 \+ 3 > 4/);
  bad('refuses a huge length', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], skip, /corrupt at byte \d: [a-z ]+/);
  bad(
    'refuses a length beyond its message',
    [0x0a, 2, 0x12, 5, 1, 1, 1, 1, 1],
    (reader) => {
      reader.tag();
      reader.enter();
      skip(reader);
    },
    /at byte 4: index out of range: 4 \+ 5 > 4/,
  );
  bad(
    'refuses a varint beyond its message',
    [0x0a, 2, 0x10, 0x80, 1],
    (reader) => {
      reader.tag();
      reader.enter();
      skip(reader);
    },
    /index out of range/,
  );
  bad('refuses 8 bytes where there are fewer', [0x09, 1, 2], skip, /index out of range: 1 \+ 8 > 3/);
  bad('refuses 4 bytes where there are fewer', [0x0d, 1, 2], skip, /index out of range: 1 \+ 4 > 3/);
  bad('refuses field 0', [0x00, 1], skip, /field number 0/);
  bad('refuses wire type 6', [0x0e, 1], skip, /wire type 6/);
  bad('refuses a group that does not end', [0x0b, 0x10, 1], skip, /index out of range/);
  bad('refuses the end of a group that did not begin', [0x0c], skip, /invalid wire type 4/);
  it('names tags by their field', () => {
    expect([varintTag(1), fixed64Tag(1), lengthTag(1)]).to.deep.equal([0x08, 0x09, 0x0a]);
  });
  it('refuses groups that are nested deeper than a hundred levels', () => {
    const groups = (depth: number): Buffer => Buffer.concat([Buffer.alloc(depth, 0x0b), Buffer.alloc(depth, 0x0c)]);
    read(groups(100), (reader) => {
      skip(reader);
      expect(reader.at).to.equal(200);
    });
    expect(() => read(groups(1e6), skip)).to.throw(/max depth exceeded/);
  });
  it('ends in values or an error that says what is wrong, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          read(Buffer.from(bytes), skip);
        } catch (error) {
          expect(httpErrorOf(error)).to.be.instanceOf(HttpError);
        }
      }),
      { numRuns: extent(700, 2000) },
    );
  });
});
