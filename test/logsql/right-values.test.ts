import { expect } from 'chai';
import { evaluate } from '../../logsql/evaluation/pipeline.ts';
import { TABLES } from './right-values.ts';
import { EVERYTHING, parse, plainOf } from './support.ts';

describe('right values', () => {
  for (const { name, entries, cases } of TABLES) {
    it(name, async () => {
      for (const [query, ...rows] of cases)
        expect((await evaluate(parse(query), entries, EVERYTHING)).map(plainOf), query).to.deep.equal(rows);
    });
  }
});
