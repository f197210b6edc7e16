import { expect } from 'chai';
import { Deadline } from '../../../api/engine/deadline.ts';
import { eventually } from '../../fakes/eventually.ts';

describe('a deadline', () => {
  it('is up after its time, and not while it stands', async () => {
    const [stands, runs] = [new Deadline(1), new Deadline(1)];
    stands.pause();
    await eventually('its end', () => runs.signal.aborted, Boolean);
    expect([stands.signal.aborted, (runs.signal.reason as Error).name]).to.deep.equal([false, 'TimeoutError']);
    stands.restart();
    await eventually('its end', () => stands.signal.aborted, Boolean);
  });

  it('stands while texts are taken, and runs while the next is waited for', async () => {
    let next: (text: string) => void = () => undefined;
    const texts = (async function* () {
      for (;;) yield await new Promise<string>((resolve) => (next = resolve));
    })();
    const [deadline, other] = [new Deadline(1), new Deadline(1)];
    deadline.pause();
    const taken = deadline.during(texts);
    const first = taken.next();
    next('a');
    expect((await first).value).to.equal('a');
    const wasUp = deadline.signal.aborted;
    await eventually('the time', () => other.signal.aborted, Boolean);
    expect(deadline.signal.aborted).to.equal(wasUp);
    if (!wasUp) {
      void taken.next();
      await eventually('its end', () => deadline.signal.aborted, Boolean);
    }
    next('b');
    await taken.return(undefined);
  });
});
