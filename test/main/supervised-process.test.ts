import { expect } from 'chai';
import { SupervisedProcess, type Start } from '../../main/supervised-process.ts';
import { eventually } from '../fakes/eventually.ts';

describe('a child that keeps dying', () => {
  it('is started again at once, then after longer and longer waits', async () => {
    const waits: (number | undefined)[] = [];
    let dies: (reason: string) => void = () => undefined;
    const begin: Start = () => {
      const exited = new Promise<string>((resolve) => (dies = resolve));
      const end = (): void => {
        dies('stopped');
      };
      return Promise.resolve({ exited, stop: () => Promise.resolve().then(end), kill: end });
    };
    const wait = (ms: number | undefined): Promise<void> => Promise.resolve(void waits.push(ms));
    const child = new SupervisedProcess('child', begin, { onChange: () => undefined, log: () => undefined, wait });
    await child.start();
    for (let death = 1; death <= 7; death++) {
      dies('exit code 1');
      await eventually(
        'another start',
        () => child.restarts,
        (count) => count === death,
      );
    }
    expect(waits).to.deep.equal([0, 500, 1000, 2000, 4000, 5000, 5000]);
    await child.stop(1000);
    expect(child.restarts).to.equal(7);
  });

  it('is started again at once where that is asked for, however often, and without a word of its end', async () => {
    const [waits, lines, stops] = [[] as unknown[], [] as string[], [] as number[]];
    const begin: Start = () => {
      const exited = Promise.withResolvers<string>();
      const end = (): void => {
        stops.push(1);
        exited.resolve('stopped');
      };
      return Promise.resolve({ exited: exited.promise, stop: () => Promise.resolve().then(end), kill: end });
    };
    const wait = (ms: number | undefined): Promise<void> => Promise.resolve(void waits.push(ms));
    const child = new SupervisedProcess('child', begin, { onChange: () => undefined, log: (line) => lines.push(line), wait });
    await child.start();
    for (let time = 1; time <= 3; time++) {
      await child.restart(1000);
      expect([child.restarts, stops.length]).to.deep.equal([time, time]);
    }
    expect([waits, lines]).to.deep.equal([[], []]);
    await child.stop(1000);
    await child.restart(1000);
    expect(child.restarts).to.equal(3);
  });
});
