import { expect } from 'chai';
import { httpErrorOf } from '../../../pipeline/core/errors.ts';
import { extent } from '../../extent.ts';
import { cpuCost } from '../../fakes/cpu-cost.ts';
import { loki } from '../../../pipeline/normalizers/loki.ts';
import type { IngestRequest, Normalizer } from '../../../pipeline/normalizers/normalizer.ts';
import { otlpLogs } from '../../../pipeline/normalizers/otlp-logs.ts';
import { newWriter, RECEIVED_AT } from '../logs/entry-lines.ts';
import { bytesField } from './protobuf-writer.ts';

/** The cap of a body is 2 MB; what grows with the square of a quarter of it is hundreds of times above its bound, too. */
const WHOLE_BYTES = 2 * 1024 * 1024;
const MAX_BYTES = extent(WHOLE_BYTES / 4, WHOLE_BYTES);
const SHARE = MAX_BYTES / WHOLE_BYTES;
const repeat = (unit: Buffer | readonly number[], size: number): Buffer => {
  const bytes = Buffer.from(unit);
  return Buffer.alloc(Math.floor(size / bytes.length) * bytes.length, bytes);
};
const fill = (head: string, unit: string, tail: string): Buffer =>
  Buffer.from(head + unit.repeat(Math.floor((MAX_BYTES - head.length - tail.length) / unit.length)) + tail);
const attribute = (field: number, key: string, value: string): Buffer =>
  bytesField(field, bytesField(1, key), bytesField(2, bytesField(1, value)));
const SEVERITY_ONLY = [0x12, 2, 0x10, 9];
const SCOPE_OF_ONE = [0x12, 2, 0x12, 0];
const JSON_HEAD = '{"resourceLogs":[{"scopeLogs":[';

/** Large bodies, each the worst of its kind. */
const BODIES: readonly (readonly [string, Normalizer, Buffer])[] = [
  ['records of nothing', otlpLogs, bytesField(1, bytesField(2, repeat([0x12, 0], MAX_BYTES - 20)))],
  ['records of a severity', otlpLogs, bytesField(1, bytesField(2, repeat(SEVERITY_ONLY, MAX_BYTES - 20)))],
  ['scopes of one record', otlpLogs, bytesField(1, repeat(SCOPE_OF_ONE, MAX_BYTES - 20))],
  [
    'a resource that is read for each of many scopes',
    otlpLogs,
    bytesField(1, bytesField(1, repeat(attribute(1, 'k', 'v'), MAX_BYTES / 2)), repeat(SCOPE_OF_ONE, MAX_BYTES / 2 - 100)),
  ],
  [
    'a resource of many fields and many records',
    otlpLogs,
    bytesField(
      1,
      bytesField(1, ...Array.from({ length: 990 }, (_, i) => attribute(1, `k${String(i)}`, 'v'))),
      bytesField(2, repeat(SEVERITY_ONLY, MAX_BYTES - 30_000)),
    ),
  ],
  ['groups in groups', otlpLogs, bytesField(1, repeat([0x2b], MAX_BYTES - 20))],
  ['JSON records of nothing', otlpLogs, fill(`${JSON_HEAD}{"logRecords":[{}`, ',{}', ']}]}]}')],
  ['JSON scopes of one record', otlpLogs, fill(`${JSON_HEAD}{}`, ',{"logRecords":[{}]}', ']}]}')],
  [
    'a JSON list as deep and as long as may be',
    otlpLogs,
    Buffer.from(
      `${JSON_HEAD}{"logRecords":[{"body":${'{"arrayValue":{"values":['.repeat(62)}{"intValue":1}${',{"intValue":1}'.repeat(138_000 * SHARE)}${']}}'.repeat(62)}}]}]}]}`,
    ),
  ],
  ['JSON brackets', otlpLogs, fill(`${JSON_HEAD}{"logRecords":[{"x":`, '[', '')],
  ['Loki lines of nothing', loki, fill('{"streams":[{"stream":{"a":"b"},"values":[["1",""]', ',["1",""]', ']}]}')],
  ['Loki streams of one line', loki, fill('{"streams":[{"stream":{},"values":[["1","a"]]}', ',{"stream":{},"values":[["1","a"]]}', ']}')],
  [
    'Loki labels of a megabyte',
    loki,
    fill(`{"streams":[{"stream":{"a":"${'x'.repeat(MAX_BYTES / 2)}"},"values":[["1",""]`, ',["1",""]', ']}]}'),
  ],
];

describe('hostile bodies of OTLP and Loki', () => {
  for (const [name, normalizer, body] of BODIES) {
    it(`are taken in linear time: ${name}`, function () {
      this.timeout(240_000);
      expect(body.length).to.be.within(MAX_BYTES * 0.9, MAX_BYTES);
      const out = newWriter();
      const isJson = body[0] === 0x7b;
      const request: IngestRequest = {
        path: normalizer.paths[0] ?? '',
        contentType: isJson ? 'application/json' : 'application/x-protobuf',
        query: new URLSearchParams(),
        header: () => '',
        body,
        maxBytes: MAX_BYTES,
        receivedAt: RECEIVED_AT,
      };
      let status = 200;
      const cost = cpuCost(() => {
        try {
          normalizer.normalize(request, out);
        } catch (error) {
          status = httpErrorOf(error)?.status ?? 0;
        }
      });
      // the bound of a whole body for a part of it, too: what grows with the square of the part is far above it
      expect(cost).to.be.below(800);
      expect(status).to.be.oneOf([200, 400]);
      const bytes = out.chunks().reduce((sum, { size }) => sum + size, 0);
      expect(bytes).to.be.below(64 * MAX_BYTES);
    });
  }
});
