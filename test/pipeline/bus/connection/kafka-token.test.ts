import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { tokenSource, usedUntil } from '../../../../pipeline/bus/connection/kafka-token.ts';

describe('the token of a client of Kafka', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-token-'));
  const file = path.join(folder, 'token');
  const runs = path.join(folder, 'runs');
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('of a file is what it holds now', async () => {
    const next = tokenSource({ tokenFile: file });
    writeFileSync(file, 'first\n');
    expect(await next()).to.equal('first');
    writeFileSync(file, 'second');
    expect(await next()).to.equal('second');
  });

  it('of a command is used by all who ask meanwhile, and made anew afterwards', async () => {
    let now = 0;
    writeFileSync(runs, '');
    const next = tokenSource({ tokenCommand: `printf x >> '${runs}'; wc -c < '${runs}'` }, () => now);
    expect(await Promise.all([next(), next(), next()])).to.deep.equal(['1', '1', '1']);
    now = 59_999;
    expect(await next()).to.equal('1');
    now = 60_000;
    expect(await next()).to.equal('2');
    expect(readFileSync(runs, 'utf8')).to.equal('xx');
  });

  it('of a command that failed is requested again', async () => {
    rmSync(file, { force: true });
    const next = tokenSource({ tokenCommand: `cat '${file}'` });
    const failed = await next().catch((error: unknown) => String(error));
    expect(failed).to.match(/failed \(1\)/);
    writeFileSync(file, 'a.b.c');
    expect(await next()).to.equal('a.b.c');
  });

  for (const text of ['', ' ', 'two words', 'a\u0001auth=Bearer b', 'a\nb', '{"a":1}', 'x'.repeat(65_537)])
    it(`is not ${JSON.stringify(text.slice(0, 20))}`, async () => {
      writeFileSync(file, text);
      expect(await tokenSource({ tokenFile: file })().catch((error: unknown) => String(error))).to.match(/not have the form/);
    });

  it('is used for four fifths of its time', () => {
    const jwt = (claims: unknown): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;
    expect(usedUntil(jwt({ exp: 1100 }), 1_000_000)).to.equal(1_080_000);
    expect(usedUntil(jwt({ exp: 1 }), 1_000_000)).to.equal(1_000_000);
    for (const other of ['opaque', jwt(null), jwt({ exp: 'soon' }), 'a.!!.c']) expect(usedUntil(other, 5), other).to.equal(60_005);
  });
});
