import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { replayNormalizers } from '../../../pipeline/normalizers/index.ts';
import { capturesFolder } from '../normalizers/captures.ts';
import { takeEvents } from './take-events.ts';

type Request = { readonly path: string; readonly headers: readonly (readonly [string, string])[]; readonly body_b64: string };
type Expected = { readonly other: readonly { readonly replay: string; readonly count: number }[] };

describe('captures of v1_rum_replay', () => {
  const root = path.join(capturesFolder(), 'v1_rum_replay');
  const json = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  const files = readdirSync(root).filter((name) => !name.endsWith('.expected.json'));

  it('are there', () => expect(files).to.not.be.empty);

  for (const file of files)
    it(`${file} gives each event of its session`, () => {
      const { requests } = json(file) as { readonly requests: readonly Request[] };
      const { other } = json(file.replace('.json', '.expected.json')) as Expected;
      const counts = new Map<string, number>();
      for (const { path: at, headers, body_b64 } of requests) {
        const normalizer = replayNormalizers.members.find(({ paths }) => paths.includes(at));
        if (normalizer === undefined) throw new Error(`no format has the path ${at}`);
        const sent = Buffer.from(body_b64, 'base64');
        const isGzip = headers.some(([name, value]) => name === 'Content-Encoding' && value === 'gzip');
        const result = takeEvents(normalizer, isGzip ? gunzipSync(sent) : sent);
        if ('status' in result) throw new Error(result.detail);
        expect(result.rejected).to.deep.equal([]);
        expect(result.ack).to.deep.equal({ status: 202, body: { status: 'ok' } });
        for (const { row } of result.entries) counts.set(row.session, (counts.get(row.session) ?? 0) + 1);
      }
      expect([...counts]).to.deep.equal(other.map(({ replay, count }) => [replay, count]));
    });
});
