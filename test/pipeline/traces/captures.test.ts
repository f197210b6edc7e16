import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parseTime } from '../../../pipeline/core/time.ts';
import { otlpTraces } from '../../../pipeline/normalizers/otlp-traces.ts';
import { capturesFolder } from '../normalizers/captures.ts';
import { takeSpans, type TakenSpan } from './take-spans.ts';

type Request = { readonly path: string; readonly headers: readonly (readonly [string, string])[]; readonly body_b64: string };
/** A span that a client sent, as the conformance data describes it. */
type Expected = {
  readonly span: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id?: string;
  readonly status?: string;
  readonly start: string;
  readonly duration_ms: number;
  readonly fields?: Readonly<Record<string, string>>;
};

const folder = path.join(capturesFolder(), 'otlp_traces');
const json = (file: string): unknown => JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = { gzip: gunzipSync, zstd: zstdDecompressSync };

function rowsOf({ path: target, headers, body_b64 }: Request): readonly TakenSpan[] {
  const header = (name: string): string => headers.find(([own]) => own.toLowerCase() === name)?.[1] ?? '';
  const sent = Buffer.from(body_b64, 'base64');
  const body = DECODERS[header('content-encoding')]?.(sent) ?? sent;
  const result = takeSpans(otlpTraces, body, { path: target, contentType: header('content-type').split(';')[0] ?? '' });
  if ('status' in result) throw new Error(result.detail);
  expect(result.rejected).to.deep.equal([]);
  return result.entries;
}

/** What the conformance data says of a span, of a row. */
const described = (row: TakenSpan | undefined, { fields = {} }: Expected): unknown => {
  const attributes = new Map((row?.['attributes'] ?? []) as [string, string][]);
  return {
    ...{ span: row?.['name'], trace_id: row?.['traceId'], span_id: row?.['spanId'], parent: row?.['parentSpanId'] },
    ...{
      isError: row?.['status'] === 2,
      start: (BigInt(String(row?.['time'])) + 500_000n) / 1_000_000n,
      ms: Number(row?.['duration']) / 1e6,
    },
    fields: Object.keys(fields).map((name) => attributes.get(name)),
  };
};
const wanted = ({ span, trace_id, span_id, parent_span_id, status, start, duration_ms, fields = {} }: Expected): unknown => ({
  ...{ span, trace_id, span_id, parent: parent_span_id },
  ...{ isError: status === 'ERROR', start: (parseTime(start) ?? 0n) / 1_000_000n, ms: duration_ms },
  fields: Object.values(fields),
});

describe('captures of clients that send traces', () => {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.expected.json')))
    it(`${file.split('.')[0] ?? ''}: each span is there as it was sent`, () => {
      const { other } = json(file) as { other: Expected[] };
      const rows = (json(file.replace('.expected', '')) as { requests: Request[] }).requests.flatMap(rowsOf);
      expect(other).to.not.be.empty;
      for (const expected of other) {
        const row = rows.find((one) => one['spanId'] === expected.span_id);
        expect(described(row, expected)).to.deep.equal(wanted(expected));
      }
    });
});
