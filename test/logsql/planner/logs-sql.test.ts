import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { logsSql } from './logs-sql.ts';

describe('Statements over entries', () => {
  /** Written by `node test/logsql/planner/write-logs-sql.ts`, where they are to change. */
  const before = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../fixtures/statements/logs.json'), 'utf8')) as Readonly<
    Record<string, string>
  >;

  it('are what they were, byte for byte', async () => {
    const now = await logsSql();
    const changed = Object.keys({ ...before, ...now }).filter((query) => before[query] !== now[query]);
    expect(Object.keys(before)).to.have.length.above(500);
    expect(changed).to.deep.equal([]);
  });
});
