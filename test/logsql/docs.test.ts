import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { filters } from '../../logsql/filters/index.ts';
import { pipes } from '../../logsql/pipes/index.ts';
import { stats } from '../../logsql/stats/index.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../docs/logsql.md'), 'utf8');

describe('docs/logsql.md', () => {
  it('names every filter, pipe and function', () => {
    const isNamed = (name: string): boolean => (/^\w+$/.test(name) ? new RegExp(`[^\\w]${name}[^\\w]`).test(page) : page.includes(name));
    const names = [...filters.members, ...pipes.members, ...stats.members].flatMap((member) => member.names);
    expect(names.filter((name) => name !== '=~' && !isNamed(name))).to.deep.equal([]);
  });
});
