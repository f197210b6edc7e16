import { expect } from 'chai';
import { HttpError } from '../../pipeline/core/errors.ts';
import { whileUnavailable } from '../../main/while-unavailable.ts';

describe('a step of the setup', () => {
  const unavailable = (): HttpError => new HttpError(503, 'audit_unavailable', 'later');

  it('is done again while something is unavailable', async () => {
    const answers = [unavailable(), unavailable()];
    const step = (): Promise<number> => {
      const error = answers.shift();
      return error === undefined ? Promise.resolve(7) : Promise.reject(error);
    };
    expect(await whileUnavailable(step, { betweenMs: 1, deadlineMs: 60_000 })).to.equal(7);
    expect(answers).to.deep.equal([]);
  });

  it('fails with what it failed with after its time, and at once with anything else', async () => {
    for (const [error, deadlineMs] of [
      [unavailable(), 0],
      [new HttpError(409, 'exists', 'there is one'), 60_000],
      [new Error('BUG'), 60_000],
    ] as const) {
      let tries = 0;
      const step = (): Promise<never> => ((tries += 1), Promise.reject(error));
      expect(await whileUnavailable(step, { betweenMs: 1, deadlineMs }).catch((thrown: unknown) => thrown)).to.equal(error);
      expect(tries).to.equal(1);
    }
  });
});
