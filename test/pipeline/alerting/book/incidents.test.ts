import { expect } from 'chai';
import { Incidents, serviceKey } from '../../../../pipeline/alerting/book/alert-book.ts';
import { Random } from '../../../fuzz/random.ts';

/** The beginning of five minutes of the clock, seconds. */
const NOW = 1_795_478_400;
const TENANT = 7;
const copyOf = (incidents: Incidents): Incidents => Incidents.from(JSON.parse(JSON.stringify(incidents)) as never);

describe('incidents', () => {
  it('are the same for alerts of a service within five minutes', () => {
    const incidents = new Incidents();
    const first = incidents.join(TENANT, 'web', NOW + 280);
    // in other five minutes of the clock
    expect(incidents.join(TENANT, 'web', NOW + 310)).to.equal(first);
    expect(incidents.join(TENANT, 'web', NOW + 610)).to.equal(first);
    expect(incidents.join(TENANT, 'api', NOW + 310)).not.to.equal(first);
    expect(incidents.join(TENANT + 1, 'web', NOW + 911)).not.to.equal(first);
    expect(incidents.join(TENANT, '', NOW + 310)).to.equal(null);
  });

  it('are as many as there are gaps of more than five minutes, also where they were written down', () => {
    const random = new Random(34);
    for (let round = 0; round < 100; round++) {
      let incidents = new Incidents();
      const times = [NOW];
      for (let alert = 1; alert < 20; alert++) times.push((times.at(-1) ?? 0) + random.pick([0, 1, 20, 150, 290, 301, 700]));
      const ids = times.map((at) => {
        if (random.below(4) === 0) incidents = copyOf(incidents);
        return incidents.join(TENANT, 'web', at);
      });
      const gaps = times.filter((at, index) => index > 0 && at - (times[index - 1] ?? 0) > 300).length;
      expect(new Set(ids).size, JSON.stringify(times)).to.equal(gaps + 1);
      for (const [index, at] of times.entries())
        if (index > 0) expect(ids[index] === ids[index - 1]).to.equal(at - (times[index - 1] ?? 0) <= 300);
    }
  });

  it('of now are not those of a source that is late', () => {
    const incidents = new Incidents();
    const now = incidents.join(TENANT, 'web', NOW);
    const late = incidents.join(TENANT, 'web', NOW - 3600);
    expect(late).not.to.equal(now);
    expect(incidents.join(TENANT, 'web', NOW + 200)).to.equal(now);
    expect(incidents.join(TENANT, 'web', NOW - 3599), 'within the same five minutes of the clock').to.equal(late);
  });

  it('go on with alerts of a release before; of two of a service the earlier one stays', () => {
    const incidents = new Incidents();
    incidents.carry('web', 12, NOW);
    incidents.carry('web', 13, NOW + 100);
    incidents.carry('web', 12, NOW + 200);
    expect(incidents.join(TENANT, 'web', NOW + 450)).to.equal(12);
  });

  it('are remembered of a thousand services at most, of those whose alerts are the newest', () => {
    const incidents = new Incidents();
    for (let service = 0; service <= 5000; service++) incidents.join(TENANT, `service ${String(service)}`, NOW + (service > 0 ? 1 : 0));
    expect(incidents.size).to.equal(1000);
    const keys = incidents.toJSON().map(([key]) => key);
    expect(keys).to.include(serviceKey('service 5000')).and.to.include(serviceKey('service 4001'));
    expect(keys).not.to.include(serviceKey('service 0')).and.not.to.include(serviceKey('service 4000'));
    expect(JSON.stringify(incidents).length, 'bytes').to.be.below(100 * 1000);
  });
});
