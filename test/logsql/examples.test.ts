import { expect } from 'chai';
import { FieldSet } from '../../logsql/base/fields.ts';
import { filters } from '../../logsql/filters/index.ts';
import { evaluate, startsNewest } from '../../logsql/evaluation/pipeline.ts';
import { pipes } from '../../logsql/pipes/index.ts';
import { FILTER_NAMES, PIPE_NAMES, STATS_NAMES, STORAGE_PIPES } from '../../logsql/base/reserved.ts';
import { stats } from '../../logsql/stats/index.ts';
import { EVERYTHING, entryOf, parse, plainOf, type Plain } from './support.ts';

/** The rows of a query over entries that are given in the order in which they go through its pipes. */
async function run(query: string, rows: readonly Plain[]): Promise<readonly Plain[]> {
  const parsed = parse(query);
  const entries = rows.map(entryOf);
  const isInOrder = startsNewest(parsed.pipes) || parsed.pipes[0]?.expand !== undefined;
  return (await evaluate(parsed, isInOrder ? entries : entries.reverse(), EVERYTHING)).map(plainOf);
}

describe('members of the LogsQL registries', () => {
  for (const [kind, registry] of Object.entries({ filters, pipes, stats })) {
    for (const member of registry.members) {
      it(`${kind}: ${member.names.join(', ')}`, async () => {
        for (const { query, input, output } of member.examples) expect(await run(query, input), query).to.deep.equal(output);
      });
    }
  }

  it('are all reserved words, and all reserved words are built', () => {
    const functions = filters.members.filter(({ kind }) => kind === 'function').flatMap(({ names }) => names);
    expect(functions.sort(), 'FILTER_NAMES of logsql/reserved.ts').to.deep.equal([...FILTER_NAMES].sort());
    expect([...stats.names].sort(), 'STATS_NAMES of logsql/reserved.ts').to.deep.equal([...STATS_NAMES].sort());
    expect([...pipes.names, ...STORAGE_PIPES, 'by'].sort(), 'PIPE_NAMES of logsql/reserved.ts').to.deep.equal([...PIPE_NAMES].sort());
  });

  it('need no more fields than they say', async () => {
    for (const member of [...pipes.members, ...stats.members, ...filters.members]) {
      for (const { query, input, output } of member.examples) {
        const parsed = parse(query);
        const needed = parsed.pipes.reduceRight((fields, pipe) => pipe.needs(fields), FieldSet.all).plus(parsed.filter.fields);
        if (parsed.pipes[0]?.expand !== undefined || needed.isOpen) continue;
        const cut = input.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => needed.has(name))));
        expect(await run(query, cut), query).to.deep.equal(output);
      }
    }
  });
});
