import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { lines } from '../../examples/normalizer/lines.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { messages, normalize } from '../pipeline/normalizers/normalize.ts';

const root = path.resolve(import.meta.dirname, '../..');

describe('examples/normalizer', () => {
  it('makes an entry of each line, in order, with a stream', () => {
    const result = normalize(lines, 'first line\n\nsecond "line"\n', { query: 'service=cron' });
    expect(messages(result)).to.deep.equal(['first line', 'second "line"']);
    if (!('entries' in result)) throw new Error('refused');
    expect(result.entries.map((entry) => textOf(entry.get('_stream')))).to.deep.equal(['{service="cron"}', '{service="cron"}']);
    expect(result.ack).to.deep.equal({ status: 200, body: { status: 'ok', accepted: 2 } });
  });

  it('leaves out what is missing', () => {
    const result = normalize(lines, 'only a line');
    expect('entries' in result ? [...(result.entries[0]?.keys() ?? [])] : result).to.deep.equal(['_time', '_stream', '_msg']);
  });

  it('stands in docs/extending/normalizers.md as it is', () => {
    const code = readFileSync(path.join(root, 'examples/normalizer/lines.ts'), 'utf8').replace(
      "'../../pipeline/normalizers/normalizer.ts'",
      "'./normalizer.ts'",
    );
    expect(readFileSync(path.join(root, 'docs/extending/normalizers.md'), 'utf8')).to.contain(code);
  });
});
