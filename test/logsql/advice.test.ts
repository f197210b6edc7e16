import { expect } from 'chai';
import { sentPipes } from '../../api/engine/workers/messages.ts';
import { QueryMemory } from '../../logsql/base/memory.ts';
import { evaluate } from '../../logsql/evaluation/pipeline.ts';
import { EVERYTHING, entryOf, parse } from './support.ts';

describe('what a query that holds too much is told', () => {
  const entries = Array.from({ length: 20 }, (_, i) => entryOf({ _time: '2026-11-18T10:00:00Z', _msg: 'x', k: String(i) }));
  const publishedOf = (query: string): Promise<string> =>
    evaluate(parse(query), entries, { ...EVERYTHING, memory: new QueryMemory({ maxRows: 10, maxBytes: 1_000_000 }) }).then(String, String);

  it('names the limit that a sort lacks', async () => {
    expect(await publishedOf('* | sort by (k)')).to.match(/The sort pipe would hold .*; add a limit to the sort pipe/);
  });
  it('is general where nothing is lacking', async () => {
    expect(await publishedOf('* | sort by (k) limit 5000')).to.match(/; narrow the query or its time range\.$/);
    expect(await publishedOf('* | uniq by (k)')).to.match(/; narrow the query or its time range\.$/);
  });
  it('goes to the pool with the names of the pipes', () => {
    const { names, advice } = sentPipes(parse('* | format "<k>" as x | sort by (x) | sort by (k) | sort by (k) limit 3').pipes);
    expect(names).to.deep.equal(['format', 'sort']);
    expect(advice).to.have.length(1);
  });
});
