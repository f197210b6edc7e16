import { expect } from 'chai';
import type { Alert } from '../../../../pipeline/alerts/alert.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { Incidents, serviceKey, type Joined } from '../../../../pipeline/processors/merge/incidents.ts';
import { incidentRecord, partialInputOf } from '../../../../pipeline/processors/merge/partials-signal.ts';
import { Random } from '../../../fuzz/random.ts';

/** The beginning of five minutes of the clock, seconds. */
const NOW = 1_795_478_400;
const TENANT = 7;
const WEB = serviceKey('web');
const copyOf = (incidents: Incidents): Incidents => Incidents.from(JSON.parse(JSON.stringify(incidents)) as never);

/** Alerts of mergers that hear of each other, each maybe twice more, and that may go on from what they wrote down. */
function fire(times: readonly number[], random: Random): (number | null)[] {
  let mergers = [new Incidents(), new Incidents(), new Incidents()];
  const said: Joined[] = [];
  return times.map((at, index) => {
    const merger = random.pick(mergers);
    const id = merger.join(TENANT, 'web', at);
    said.push(...merger.announcements([{ state: 'firing', firedAt: at, updatedAt: at, service: 'web', incidentId: id } as Alert]));
    for (const joined of said.slice(Math.max(0, index - 2))) for (const one of mergers) one.hear(joined, at);
    if (random.below(4) === 0) mergers = mergers.map(copyOf);
    return id;
  });
}

describe('incidents of several mergers', () => {
  it('are the same for alerts of a service within five minutes, whichever merger tells them', () => {
    const [one, other] = [new Incidents(), new Incidents()];
    const first = one.join(TENANT, 'web', NOW + 280);
    other.hear({ service: WEB, id: first ?? 0, since: NOW + 280, at: NOW + 280 }, NOW + 281);
    // in other five minutes of the clock
    expect(other.join(TENANT, 'web', NOW + 310)).to.equal(first);
    expect(other.join(TENANT, 'web', NOW + 610)).to.equal(first);
    expect(other.join(TENANT, 'web', NOW + 911)).not.to.equal(first);
    expect(other.join(TENANT, 'api', NOW + 310)).not.to.equal(first);
    expect(other.join(TENANT + 1, 'web', NOW + 310)).not.to.equal(first);
    expect(other.join(TENANT, '', NOW + 310)).to.equal(null);
  });

  it('are the same before the mergers have heard of each other', () => {
    const ids = [new Incidents(), new Incidents()].map((one, index) => one.join(TENANT, 'web', NOW + 5 + index));
    expect(new Set(ids).size).to.equal(1);
  });

  it('are one from then on where two began at once on both sides of such five minutes', () => {
    const [one, other] = [new Incidents(), new Incidents()];
    const [a, b] = [one.join(TENANT, 'web', NOW - 1) ?? 0, other.join(TENANT, 'web', NOW) ?? 0];
    expect(a).not.to.equal(b);
    other.hear({ service: WEB, id: a, since: NOW - 1, at: NOW - 1 }, NOW + 1);
    one.hear({ service: WEB, id: b, since: NOW, at: NOW }, NOW + 1);
    expect([one, other].map((incidents) => incidents.join(TENANT, 'web', NOW + 100))).to.deep.equal([a, a]);
  });

  it('do not come back with what is heard late, and go on with nothing that is heard twice', () => {
    const incidents = new Incidents();
    const joined = { service: WEB, id: incidents.join(TENANT, 'web', NOW) ?? 0, since: NOW, at: NOW };
    for (let times = 0; times < 3; times++) incidents.hear(joined, NOW + 200);
    const next = incidents.join(TENANT, 'web', NOW + 301);
    expect(next).not.to.equal(joined.id);
    incidents.hear(joined, NOW + 302);
    expect(incidents.join(TENANT, 'web', NOW + 303)).to.equal(next);
  });

  it('are as many as there are gaps of more than five minutes, whichever merger tells what, and whoever is killed', () => {
    const random = new Random(34);
    for (let round = 0; round < 100; round++) {
      const times = [NOW];
      for (let alert = 1; alert < 20; alert++) times.push((times.at(-1) ?? 0) + random.pick([0, 1, 20, 150, 290, 301, 700]));
      const ids = fire(times, random);
      const gaps = times.filter((at, index) => index > 0 && at - (times[index - 1] ?? 0) > 300).length;
      expect(new Set(ids).size, JSON.stringify(times)).to.equal(gaps + 1);
      for (const [index, at] of times.entries())
        if (index > 0) expect(ids[index] === ids[index - 1]).to.equal(at - (times[index - 1] ?? 0) <= 300);
    }
  });

  it('are told of alerts that fire for the first time, once for each service', () => {
    const incidents = new Incidents();
    const [id, other] = [incidents.join(TENANT, 'web', NOW), incidents.join(TENANT, 'api', NOW + 1)];
    const alert = { state: 'firing', firedAt: NOW, updatedAt: NOW, service: 'web', incidentId: id };
    const told = [
      ...[alert, { ...alert, updatedAt: NOW + 60 }, { ...alert, state: 'resolved' }, { ...alert, service: '', incidentId: null }],
      { ...alert, service: 'api', incidentId: other, firedAt: NOW + 1, updatedAt: NOW + 1 },
      { ...alert, service: 'api', incidentId: 5 },
    ];
    expect(incidents.announcements(told as never)).to.deep.equal([
      { service: WEB, id, since: NOW, at: NOW },
      { service: serviceKey('api'), id: other, since: NOW + 1, at: NOW + 1 },
    ]);
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

  it('are read of what releases before wrote', () => {
    const read = Incidents.from([['web', { id: 12, at: NOW }]]);
    expect(read.join(TENANT, 'web', NOW + 10)).to.equal(12);
  });

  it('go from merger to merger as records, and what is none of them says that time has passed', () => {
    const joined = { service: WEB, id: 12, since: NOW, at: NOW + 3 };
    const { value, headers } = incidentRecord(TENANT, 14, joined);
    const inputOf = (bytes: Buffer): unknown =>
      partialInputOf(3, { value: bytes, headers, offset: '9', timestamp: '1000' } as unknown as KafkaMessage);
    expect(inputOf(value)).to.deep.equal({
      kind: 'incident',
      partition: 3,
      offset: 9,
      appendedAt: 1000,
      tenantId: TENANT,
      ...joined,
    });
    const wrong = [
      ...['', '{}', 'null', '[]', '{"service":"web","id":1,"since":1,"at":1}', '{"service":1,"id":"1","since":1,"at":1}'],
      ...['{"service":1,"id":1.5,"since":1,"at":1}', '{"service":1,"id":1,"since":-1,"at":1}', '{"__proto__":{"id":1}}'],
      JSON.stringify({ ...joined, service: 2 ** 53 }),
    ];
    for (const text of wrong) expect(inputOf(Buffer.from(text)), text).to.include({ kind: 'tick', offset: 9 });
  });
});
