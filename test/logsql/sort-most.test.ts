import { expect } from 'chai';
import { SortPipe, withMost } from '../../logsql/pipes/sort.ts';
import { QueryMemory } from '../../logsql/base/memory.ts';
import { evaluate, hasValues } from '../../logsql/evaluation/pipeline.ts';
import { Query } from '../../logsql/base/query.ts';
import { renderEntry, type LogEntry } from '../../pipeline/core/entry.ts';
import { EVERYTHING, entryOf, parse } from './support.ts';

const VALUES = ['5', '10', 'web-2', 'web-10', '12ms', '3KiB', '', 'x', '1.5'];
const ENTRIES: readonly LogEntry[] = Array.from({ length: 20_000 }, (_none, index) =>
  entryOf({
    _time: '2026-11-18T10:00:00Z',
    _msg: 'm',
    n: String(index),
    v: VALUES[(index * 7) % VALUES.length] ?? '',
    k: String(index % 3),
  }),
);

describe('a sort whose answer has at most so many rows', () => {
  const cut = (text: string, most: number): Query => {
    const query = parse(text);
    return new Query(query.options, query.filter, withMost(query.pipes, most));
  };

  for (const text of ['* | sort by (v)', '* | sort by (v desc, n)', '* | fields v | sort by (v)'])
    it(`${text}: gives the first rows of all`, async () => {
      const all = (await evaluate(parse(text), ENTRIES, EVERYTHING)).filter(hasValues);
      const first = await evaluate(cut(text, 50), ENTRIES, EVERYTHING);
      expect(first.slice(0, 50).map(renderEntry)).to.deep.equal(all.slice(0, 50).map(renderEntry));
    });

  it('holds few of them', async () => {
    const little = () => ({ ...EVERYTHING, memory: new QueryMemory({ maxRows: 3000, maxBytes: 3_000_000 }) });
    const [first] = await evaluate(cut('* | sort by (v, n)', 10), ENTRIES, little());
    expect(first?.get('n')).to.equal('6');
    const whole = await evaluate(parse('* | sort by (v, n)'), ENTRIES, little()).catch(String);
    expect(whole).to.match(/The sort pipe/);
  });

  it('counts all rows where their numbers are asked for, or where it comes before other pipes', () => {
    for (const text of [
      '* | sort by (v) rank as r',
      '* | sort by (v) offset 3',
      '* | sort by (v) limit 20',
      '* | sort by (v) | stats count() n',
      '* | uniq by (v)',
    ]) {
      const { pipes } = cut(text, 10);
      expect(pipes.some((pipe) => pipe instanceof SortPipe && pipe.options.most !== undefined)).to.equal(false);
    }
  });
});
