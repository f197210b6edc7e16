import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { logsSql } from './logs-sql.ts';

const FILE = path.join(import.meta.dirname, '../../fixtures/statements/logs.json');

describe('Statements over entries', () => {
  it('are what they were, byte for byte (with WRITE_STATEMENTS=1 they are written anew)', async () => {
    const now = await logsSql();
    if (process.env['WRITE_STATEMENTS'] === '1') writeFileSync(FILE, `${JSON.stringify(now, null, 1)}\n`);
    const before = JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, string>>;
    const changed = Object.keys({ ...before, ...now }).filter((query) => before[query] !== now[query]);
    expect(Object.keys(before)).to.have.length.above(500);
    expect(changed).to.deep.equal([]);
  });
});
