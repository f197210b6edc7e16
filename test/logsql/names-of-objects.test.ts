import { expect } from 'chai';
import { planOf, syntaxError } from './support.ts';

/** What every object of JavaScript has, and no list of names of ours. */
const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf'];

describe('names that objects have', () => {
  for (const name of NAMES)
    it(`${name} is no bucket, no option and no function`, () => {
      for (const query of [
        `* | stats by (_time:${name}) count()`,
        `* | stats by (_time:1h offset ${name}) count()`,
        `* | stats ${name}(a)`,
        `options(${name}=true) *`,
        `* | math ${name}(a) as b`,
      ])
        expect(syntaxError(query), query).to.not.equal(null);
    });

  for (const name of NAMES)
    it(`${name} is a field as any other`, () => {
      expect(planOf(`${name}:x | stats by (${name}) count() n`).kind).to.equal('aggregate');
    });
});
