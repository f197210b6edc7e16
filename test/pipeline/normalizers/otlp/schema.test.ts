import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { otlpMessages, otlpSchema, SCHEMA_FILE } from '../../../../pipeline/normalizers/otlp/proto/generate.ts';
import * as schema from '../../../../pipeline/normalizers/otlp/schema.ts';

describe('the tables that the readers of OTLP walk by', () => {
  it('are those of the .proto files (npm run proto)', () => expect(readFileSync(SCHEMA_FILE, 'utf8')).to.equal(otlpSchema()));

  it('have all fields of a span, and what protobufjs writes before them', () => {
    const span = otlpMessages().lookupType('opentelemetry.proto.trace.v1.Span');
    for (const { name, id, type, repeated } of span.fieldsArray) {
      expect((schema.SPAN as Readonly<Record<string, number>>)[name], name).to.equal(id);
      const value = type === 'bytes' ? Buffer.from([1]) : /\d$/.test(type) || name === 'kind' ? 1 : type === 'string' ? 'x' : {};
      const [tag = 0, more = 0] = span.encode(span.fromObject({ [name]: repeated ? [value] : value })).finish();
      expect((schema.SPAN_TAGS as Readonly<Record<string, number>>)[name], name).to.equal(tag < 128 ? tag : (more << 7) | (tag & 127));
    }
    expect(Object.keys(schema.SPAN)).to.have.length(span.fieldsArray.length);
  });
});
