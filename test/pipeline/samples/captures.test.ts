import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { inflateSnappy } from '../../../pipeline/compression/snappy.ts';
import { sampleNormalizers } from '../../../pipeline/normalizers/index.ts';
import { capturesFolder } from '../normalizers/captures.ts';
import { takeSamples, type TakenSample } from './take-samples.ts';

type Request = {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body_b64: string;
  readonly probe?: boolean;
};
/** What a client sent, as the conformance data describes it: labels, and values by their field. */
type Expected = {
  readonly metric: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, number>>;
};

const FOLDERS = ['api_v1_write', 'api_v2_write', 'write', 'otlp_metrics', 'api_v1_otel_v1_metrics'];
const snappy = (body: Buffer): Buffer => inflateSnappy(body, 1 << 26, () => new Error('too large'));
const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = { gzip: gunzipSync, zstd: zstdDecompressSync, snappy };

function rowsOf({ path: target, headers, body_b64 }: Request): readonly TakenSample[] {
  const [at = '', query = ''] = target.split('?');
  const normalizer = sampleNormalizers.members.find(({ paths }) => paths.includes(at));
  if (normalizer === undefined) throw new Error(`no format has the path ${at}`);
  const own = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  const coding = own['content-encoding'] ?? normalizer.impliedCoding?.('') ?? '';
  const sent = Buffer.from(body_b64, 'base64');
  const body = DECODERS[coding]?.(sent) ?? sent;
  const contentType = (own['content-type'] ?? '').split(';')[0] ?? '';
  const result = takeSamples(normalizer, body, { path: at, query, contentType, headers: own });
  if ('status' in result) throw new Error(result.detail);
  expect(result.rejected).to.deep.equal([]);
  return result.entries;
}

for (const folder of FOLDERS)
  describe(`captures of ${folder}`, () => {
    const root = path.join(capturesFolder(), folder);
    const json = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
    for (const file of readdirSync(root).filter((name) => !name.endsWith('.expected.json')))
      it(`${file} gives each sample that its client sent`, () => {
        const { requests } = json(file) as { readonly requests: readonly Request[] };
        const { other = [] } = json(file.replace('.json', '.expected.json')) as { readonly other?: readonly Expected[] };
        const rows = requests.filter(({ method, probe }) => method === 'POST' && probe !== true).flatMap(rowsOf);
        expect(rows).to.not.be.empty;
        for (const { metric, labels = {}, values } of other) {
          const plain = metric.replaceAll(/[^a-zA-Z0-9_]/g, '_');
          const own = rows.filter(({ series }) => String(series).startsWith(plain));
          for (const [name, value] of Object.entries(labels).filter(([label]) => !label.startsWith('service.')))
            expect(own.some(({ series }) => String(series).includes(`${name.replaceAll('.', '_')}=${JSON.stringify(value)}`)), `${metric} ${name}`).to.equal(true); // prettier-ignore
          for (const [field, value] of Object.entries(values).filter(([, one]) => typeof one === 'number'))
            expect(
              own.some((row) => row['value'] === value),
              `${metric} ${field} ${String(value)}`,
            ).to.equal(true);
        }
      });
  });
