import { expect } from 'chai';
import { around, learned, THEN, usual, type Came, type AlertingWorld } from './alerting-world.ts';

const HOSTS = ['a', 'b', 'c', 'd', 'e', 'f'];
/** A service of six streams in two partitions of the log, each with about as many entries, and another one. */
const web = (minute: number, factorOf: (host: string) => number = () => 1): Came[] => [
  ...HOSTS.map((host, index) => ({
    ...{ service: 'web', host, partition: index % 2 },
    entries: Math.round(around(15, minute + index * 4) * factorOf(host)),
  })),
  { service: 'cart', entries: around(30, minute) },
];
/** AlertingWorld that know what is usual of it. */
const used = (): AlertingWorld => learned(web);
const found = (world: AlertingWorld): string[] => world.alerts.map(({ detector, stream }) => `${detector} ${stream}`).sort();

describe('alerting, of services that have several streams', () => {
  it('tells what only all streams together show, once, and which streams have it', () => {
    const world = used();
    world.run(20, (minute) => web(minute, () => 1.9));
    expect(found(world)).to.deep.equal(['log_rate {service="web"}']);
    const [alert] = world.alerts;
    expect(alert).to.include({ service: 'web', state: 'firing' });
    expect(alert?.title).to.match(/^Entries of web rose to \d+ a minute, expected \d+ to \d+$/);
    expect(alert?.description).to.match(
      /^Entries of the 6 streams of \{service="web"\} together came at .* No single stream has most of it\.$/,
    );
    const evidence = JSON.parse(alert?.evidence ?? '') as { links: { query: string }; streams: { stream: string; share: number }[] };
    expect(evidence.links.query).to.equal('{service="web"}');
    expect(evidence.streams).to.have.length(5);
    for (const { share } of evidence.streams) expect(share).to.be.within(0.05, 0.4);
    world.run(60, (minute) => web(minute));
    expect(world.alerts.map(({ state, note }) => [state, note])).to.deep.equal([['resolved', 'auto: back within baseline']]);
  });

  const isOne = (host: string): boolean => host === 'b';
  const cases: readonly (readonly [string, (host: string) => number, readonly string[]])[] = [
    ['one that rises', (host) => (isOne(host) ? 9 : 1), ['log_rate {host="b",service="web"}']],
    ['one that falls', (host) => (isOne(host) ? 0.2 : 1), ['log_rate {host="b",service="web"}']],
    ['one that stops', (host) => (isOne(host) ? 0 : 1), ['silence {host="b",service="web"}']],
    ['two that rise by much', (host) => (isOne(host) || host === 'e' ? 9 : 1), ['log_rate {host="b",service="web"}', 'log_rate {host="e",service="web"}']], // prettier-ignore
  ];
  for (const [what, factorOf, expected] of cases)
    it(`leaves to streams what is their own: ${what}`, () => {
      const world = used();
      world.run(40, (minute) => web(minute, factorOf));
      expect(found(world)).to.deep.equal(expected);
    });

  /** A release: one host after the other is replaced by a new one, a minute apart. */
  const released = (minute: number): Came[] =>
    web(minute).flatMap((one, index) => {
      return one.host === undefined || minute < THEN + index ? [one] : [{ ...one, host: `${one.host}2` }];
    });

  it('takes no pod for silent whose place another one has taken', () => {
    const world = used();
    world.run(6 * 60, (minute) => released(minute));
    expect(found(world)).to.deep.equal([]);
    // the new ones are watched as those before them
    world.run(40, (minute) => released(minute).filter(({ host }) => host !== 'c2'));
    expect(found(world)).to.deep.equal(['silence {host="c2",service="web"}']);
  });

  it('tells what nobody has taken over, though others are new', () => {
    const world = used();
    const isThere = (minute: number, host = ''): boolean => minute < THEN || !['b', 'c', 'd', 'e'].includes(host);
    // one host is new, four have stopped
    world.run(40, (minute) => [
      ...web(minute).filter(({ host }) => isThere(minute, host)),
      ...(minute < THEN ? [] : [{ service: 'web', host: 'new', partition: 0, entries: around(15, minute) }]),
    ]);
    expect(found(world)).to.not.deep.equal([]);
  });

  it('tells a service that stops altogether once', () => {
    const world = used();
    world.run(40, (minute) => web(minute).slice(HOSTS.length));
    expect(found(world)).to.deep.equal(['silence {service="web"}']);
  });

  it('waits for a partition that is behind, and takes it for no fall', () => {
    const world = used();
    world.hold(1, 40, (minute) => web(minute));
    world.run(5, (minute) => web(minute));
    expect(found(world)).to.deep.equal([]);
  });

  it('tells the same from any snapshot on', () => {
    const came = (minute: number): Came[] => web(minute, () => (minute >= THEN && minute < THEN + 15 ? 1.9 : 1));
    const [whole, cut] = [used(), used()];
    whole.run(60, came);
    for (let minute = 0; minute < 60; minute++) {
      cut.run(1, came);
      cut.restart();
    }
    expect(whole.rows).to.not.deep.equal([]);
    expect(cut.rows).to.deep.equal(whole.rows);
  });

  it('takes as the past of a service what its first stream had, and forgets the service with its second stream', () => {
    const world = learned((minute) => web(minute).slice(5));
    world.run(10, (minute) => web(minute).slice(4));
    // too young to tell it itself, the new stream does not hide what the service has
    world.run(10, (minute) => web(minute, (host) => (host === 'e' ? 12 : 1)).slice(4));
    expect(found(world)).to.deep.equal(['log_rate {service="web"}']);
    world.run(26 * 60, (minute) => (minute % 20 === 0 ? web(minute, () => 20).slice(5) : []));
    expect(world.alerts.filter(({ stream, state }) => stream === '{service="web"}' && state === 'firing')).to.deep.equal([]);
  });

  it('ends what fires of a tenant that has no entries for a day', () => {
    const two = (minute: number): Came[] => [...usual(minute), { service: 'bank', entries: 30, tenantId: 2 }];
    const world = learned(two);
    world.run(60, usual);
    expect(world.alerts.map(({ tenantId, detector, state }) => [tenantId, detector, state])).to.deep.equal([[2, 'silence', 'firing']]);
    world.run(27 * 60, (minute) => (minute % 30 === 0 ? [{ service: 'cart', entries: 900 }] : []));
    const [ended] = world.alerts.filter(({ tenantId }) => tenantId === 2);
    expect([ended?.state, ended?.note]).to.deep.equal(['resolved', 'auto: no entries for a day']);
  });
});
