import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { METRIC_DATA } from '../../../../pipeline/normalizers/otlp/metrics-schema.ts';
import { otlpMessages, otlpSchemas } from '../../../../pipeline/normalizers/otlp/proto/generate.ts';
import * as schema from '../../../../pipeline/normalizers/otlp/schema.ts';

describe('the tables that the readers of OTLP walk by', () => {
  it('are those of the .proto files (npm run proto)', () => {
    const schemas = otlpSchemas();
    expect(schemas.map(({ file }) => path.basename(file))).to.deep.equal(['schema.ts', 'metrics-schema.ts']);
    for (const { file, text } of schemas) expect(readFileSync(file, 'utf8'), file).to.equal(text);
  });

  it('have the points, temporality and direction of all kinds of metrics under the numbers of sums', () => {
    const messages = otlpMessages();
    for (const name of ['Gauge', 'Sum', 'Histogram', 'ExponentialHistogram', 'Summary'])
      for (const field of messages.lookupType(`opentelemetry.proto.metrics.v1.${name}`).fieldsArray)
        expect([name, field.name, field.id]).to.deep.equal([
          name,
          field.name,
          (METRIC_DATA as Readonly<Record<string, number>>)[field.name],
        ]);
  });

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
