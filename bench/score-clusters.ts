/**
 * `npm run -s score:clusters -- DATA_DIR OUT_DIR content|raw`: clusters the lines of each set of a folder (`DATA_DIR/<set>/content.log` or
 * `raw.log`), each as a tenant of its own, by the service's own masks, headers and clusterer, with one setting for all, and writes
 * `OUT_DIR/<set>.csv` with `line,cluster,template` (lines count from 1).
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Clusterer } from '../pipeline/clusterer/clusterer.ts';
import { Shapes, fingerprintOf } from '../pipeline/clusterer/shapes.ts';
import { headerOf } from '../pipeline/clusterer/headers/index.ts';

const [data = '', out = '', kind = '', ...more] = process.argv.slice(2);
if (!['content', 'raw'].includes(kind) || more.length > 0) throw new Error('It takes two folders and a kind: DATA_DIR OUT_DIR content|raw');

const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** One row for each line: its cluster's number, and the template of the cluster at the end. */
function predicted(lines: readonly string[]): string[] {
  const shapes = new Shapes();
  const clusterer = new Clusterer({ maxTemplates: 50_000 });
  const fingerprints = new Map<string, string>();
  const seen = lines.map((line, index) => {
    const bytes = Buffer.from(line);
    shapes.read(bytes, kind === 'raw' ? headerOf(bytes, 0, bytes.length).contentAt : 0, bytes.length);
    const template = shapes.template();
    const known = fingerprints.get(template);
    if (known !== undefined) return known;
    clusterer.add(template, index);
    const fingerprint = fingerprintOf(template);
    fingerprints.set(template, fingerprint);
    return fingerprint;
  });
  const numbers = new Map<string, number>();
  return seen.map((fingerprint, index) => {
    const root = clusterer.rootOf(fingerprint) ?? fingerprint;
    const number = numbers.get(root) ?? numbers.size + 1;
    numbers.set(root, number);
    return `${index + 1},${number},${cell(clusterer.shownTemplate(fingerprint) ?? '')}`;
  });
}

mkdirSync(out, { recursive: true });
for (const set of readdirSync(data)) {
  const file = path.join(data, set, `${kind}.log`);
  if (!existsSync(file)) continue;
  const lines = readFileSync(file, 'utf8')
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
  writeFileSync(path.join(out, `${set}.csv`), `line,cluster,template\n${predicted(lines).join('\n')}\n`);
}
