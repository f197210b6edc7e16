import { expect } from 'chai';
import { pino } from 'pino';
import { WhenPossible } from '../../main/roles/when-possible.ts';
import { until } from '../e2e/instance.ts';

describe('services that wait for what they need', () => {
  const world = (failsToStart = false) => {
    const seen: string[] = [];
    const state = { isThere: true, failure: '' };
    const service = {
      name: 'own',
      start: () => (failsToStart ? Promise.reject(new Error('no')) : Promise.resolve(void seen.push('start'))),
      stop: () => Promise.resolve(void seen.push('stop')),
    };
    const waiting = new WhenPossible({
      ...{ name: 'sinks', services: [service], log: pino({ level: 'silent' }), everyMs: 1 },
      prepare: () => (state.isThere ? Promise.resolve(void seen.push('prepare')) : Promise.reject(new Error('it is unavailable'))),
      onFailed: (error) => (state.failure = (error.cause as Error).message),
    });
    return { seen, state, waiting };
  };

  it('start at once where it is there', async () => {
    const { seen, waiting } = world();
    await waiting.start();
    expect(waiting.reason).to.equal(null);
    await waiting.stop();
    expect(seen).to.deep.equal(['prepare', 'start', 'stop']);
  });

  it('start later where it comes later, and a start does not wait for that', async () => {
    const { seen, state, waiting } = world();
    state.isThere = false;
    await waiting.start();
    expect([waiting.reason, seen]).to.deep.equal(['it is unavailable', []]);
    state.isThere = true;
    await until('the start', () => Promise.resolve(waiting.reason), (reason) => reason === null); // prettier-ignore
    await waiting.stop();
    expect(seen).to.deep.equal(['prepare', 'start', 'stop']);
  });

  it('never start where it does not come before the stop', async () => {
    const { seen, state, waiting } = world();
    state.isThere = false;
    await waiting.start();
    state.isThere = true;
    await waiting.stop();
    await waiting.stop();
    expect(seen.filter((what) => what !== 'prepare')).to.deep.equal([]);
  });

  it('fail a start, and end the process later on', async () => {
    expect(await world(true).waiting.start().catch((error: unknown) => (error as Error).message)).to.equal('own did not start.'); // prettier-ignore
    const { state, waiting } = world(true);
    state.isThere = false;
    await waiting.start();
    state.isThere = true;
    await until('the failure', () => Promise.resolve(state.failure), (failure) => failure === 'no'); // prettier-ignore
    await waiting.stop();
  });
});
