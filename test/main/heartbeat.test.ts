import { expect } from 'chai';
import { Heartbeat } from '../../main/heartbeat.ts';

describe('a heartbeat', () => {
  const looks = (heartbeat: Heartbeat, count: number): boolean[] => Array.from({ length: count }, () => heartbeat.look());

  it('is missed after 15 looks without one', () => {
    const heartbeat = new Heartbeat();
    heartbeat.beat();
    expect(looks(heartbeat, 15)).to.deep.equal([...Array<boolean>(14).fill(false), true]);
  });
  it('is counted anew from each beat', () => {
    const heartbeat = new Heartbeat();
    for (let times = 0; times < 3; times++) {
      heartbeat.beat();
      expect(looks(heartbeat, 14)).not.to.include(true);
    }
  });
  it('is not missed before the first one: a start may take long', () => {
    expect(looks(new Heartbeat(), 100)).not.to.include(true);
  });
});
