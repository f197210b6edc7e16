import { expect } from 'chai';
import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { Json } from '../../../../pipeline/core/setting.ts';
import { alerting } from '../../../../pipeline/alerting/streams/alerting.ts';
import { learned, AlertingWorld, START, THEN, usual, type Came } from './alerting-world.ts';

describe('alerting, by what rates has counted', () => {
  it('tells errors of a stream as an alert with its evidence, raises its fire count, and resolves it when it is over', () => {
    const world = learned();
    world.run(10, (minute) => [{ service: 'checkout', entries: 60, errors: 35 }, usual(minute)[1] as Came]);
    const [errors, entries, ...others] = world.alerts.sort((a, b) => a.detector.localeCompare(b.detector));
    expect(others).to.deep.equal([]);
    const stream = '{service="checkout"}';
    expect(errors).to.include({ tenantId: 1, detector: 'error_rate', stream, severity: 'critical', state: 'firing' });
    expect(errors?.firedAt).to.be.within(START / 1000 + THEN * 60, START / 1000 + (THEN + 3) * 60);
    expect(errors?.fireCount).to.be.within(5, 11);
    expect(errors?.title).to.match(/^Errors of \S+ rose to \d+ a minute, expected 0 to [\d.]+$/);
    const evidence = JSON.parse(errors?.evidence ?? '') as Record<string, never>;
    expect(evidence).to.include.keys('z_score', 'current_value', 'baseline_mean', 'expected', 'window', 'series', 'links');
    expect(evidence['current_value']).to.be.within(15, 36);
    expect(evidence['z_score']).to.be.above(6);
    expect((evidence['links'] as unknown as { readonly query: string }).query)
      .to.satisfy((query: string) => query.startsWith(`${stream} level:~"(?i)^(error|err|`))
      .and.to.contain('|fatal|');
    expect((JSON.parse(entries?.evidence ?? '') as { links: unknown }).links).to.deep.include({ query: stream });
    expect(entries?.detector).to.equal('log_rate');

    world.run(40, usual);
    expect(world.alerts.map(({ state, note }) => [state, note])).to.deep.equal([
      ['resolved', 'auto: back within baseline'],
      ['resolved', 'auto: back within baseline'],
    ]);
    expect(world.alerts[0]?.resolvedAt).to.be.within(START / 1000 + (THEN + 18) * 60, START / 1000 + (THEN + 40) * 60);
  });

  it('tells of an alert once for each partial, and under one id', () => {
    const world = learned();
    world.run(10, () => [{ service: 'checkout', entries: 300 }, { service: 'cart', entries: 300 }]); // prettier-ignore
    expect(world.alerts).to.have.length(2);
    for (const rows of world.told) expect(new Set(rows.map(({ id }) => id)).size).to.equal(rows.length);
    const versions = world.rows.map(({ version }) => version);
    expect(versions).to.deep.equal([...versions].sort((a, b) => a - b));
  });

  it('gives alerts of a service that fire together one incident, and others another', () => {
    const world = learned();
    world.run(5, () => [{ service: 'checkout', entries: 200, errors: 150 }, { service: 'cart', entries: 300 }]); // prettier-ignore
    const incidents = new Map<string, Set<number>>();
    for (const { stream, incidentId } of world.alerts) incidents.set(stream, (incidents.get(stream) ?? new Set()).add(incidentId));
    expect([...incidents.values()].map(({ size }) => size)).to.deep.equal([1, 1]);
    expect(new Set([...incidents.values()].flatMap((ids) => [...ids])).size).to.equal(2);
  });

  it('adds up a stream that lies in several partitions, and fires nothing where it moves to more or fewer', () => {
    const world = learned();
    const spread = (minute: number): Came[] => usual(minute).flatMap((one) => {
      const half = Math.floor(one.entries / 2);
      return [{ ...one, entries: half }, { ...one, entries: one.entries - half, partition: 1 }];
    }); // prettier-ignore
    world.run(60, spread);
    world.run(30, usual);
    expect(world.rows).to.deep.equal([]);
    world.run(5, (minute) => spread(minute).map((one) => ({ ...one, entries: one.entries * 5 })));
    expect(world.alerts.map(({ detector }) => detector)).to.deep.equal(['log_rate', 'log_rate']);
  });

  it('is quiet about what somebody has resolved, with the note, until it was back', () => {
    const world = learned();
    const hot = (minute: number): Came[] => [{ service: 'checkout', entries: 300 }, usual(minute)[1] as Came];
    world.run(4, hot);
    const [alert] = world.alerts;
    world.resolve({ ...(alert as AlertRow), resolvedAt: null, incidentId: alert?.incidentId ?? null }, 'known: sale');
    world.restart();
    world.run(10, hot);
    expect(world.alerts.map(({ state, note }) => [state, note])).to.deep.equal([['resolved', 'known: sale']]);
    world.run(100, usual);
    world.run(4, hot);
    expect(world.alerts.map(({ state }) => state)).to.deep.equal(['resolved', 'firing']);
  });

  it('knows streams of one tenant from those of another', () => {
    const both = (minute: number): Came[] => [...usual(minute), ...usual(minute).map((one) => ({ ...one, tenantId: 2 }))];
    const world = learned(both);
    world.run(5, (minute) => both(minute).map((one) => (one.tenantId === 2 && one.service === 'cart' ? { ...one, entries: 250 } : one)));
    expect(world.alerts.map(({ tenantId, stream }) => [tenantId, stream])).to.deep.equal([[2, '{service="cart"}']]);
  });

  it('tells of a stream that has stopped that it is silent', () => {
    const world = learned();
    world.run(20, (minute) => usual(minute).slice(1));
    expect(world.alerts.map(({ detector, title }) => [detector, title.endsWith('is silent')])).to.deep.equal([['silence', true]]);
    // the other stream goes on, seldom asked
    world.run(25 * 60, (minute) => (minute % 30 === 0 ? [{ service: 'cart', entries: 30 * 30 }] : []));
    expect(world.alerts.filter(({ stream }) => stream === '{service="checkout"}').map(({ state, note }) => [state, note])).to.deep.equal([
      ['resolved', 'auto: no entries for a day'],
    ]);
  });

  it('has a slice of its snapshot for each series, and the same bytes as at once', () => {
    const came: Came[] = Array.from({ length: 20 }, (_none, index) => ({ service: `s${String(index)}`, entries: 60 }));
    const world = new AlertingWorld();
    world.run(5, () => came);
    const { slices, bytes } = world.sliced();
    expect(slices).to.be.above(19);
    expect(bytes.equals(world.snapshot())).to.equal(true);
  });

  it('heeds how easily detectors shall fire: by tenant, detector and stream, from a snapshot on too', () => {
    const both = (minute: number, factor = 1): Came[] =>
      [1, 2].flatMap((tenantId) => usual(minute).map((one) => ({ ...one, entries: one.entries * factor, tenantId })));
    const rules: readonly (readonly [(world: AlertingWorld) => void, readonly string[]])[] = [
      [(world) => { world.set([{ sensitivity: 'off' }]); }, []], // prettier-ignore
      [(world) => { world.set([{ detector: 'log_rate', stream: '{service="cart"}', sensitivity: 'off' }], { tenantId: 2 }); }, ['1 cart', '1 checkout', '2 checkout']], // prettier-ignore
      [(world) => { world.set([{ detector: 'silence', sensitivity: 'off' }], { tenantId: 2 }); }, ['1 cart', '1 checkout', '2 cart', '2 checkout']], // prettier-ignore
      // the first rule that fits, and a tenant's own before those of all
      [(world) => {
        world.set([{ sensitivity: 'off' }]);
        world.set([{ stream: '{service in ("cart","bank")}', sensitivity: 'normal' }, { stream: '{service="cart"}', sensitivity: 'off' }], { tenantId: 1 }); // prettier-ignore
      }, ['1 cart']], // prettier-ignore
      // an older version says nothing any more, and what is taken back neither
      [(world) => {
        world.set([], { version: 3 });
        world.set([{ sensitivity: 'off' }], { version: 2 });
        world.set([{ sensitivity: 'off' }], { tenantId: 2 });
        world.set(null, { tenantId: 2, version: 2 });
      }, ['1 cart', '1 checkout', '2 cart', '2 checkout']], // prettier-ignore
    ];
    for (const [say, found] of rules) {
      const world = learned(both);
      say(world);
      world.restart();
      world.run(4, (minute) => both(minute, 8));
      expect(world.alerts.map(({ tenantId, service }) => `${String(tenantId)} ${service}`).sort()).to.deep.equal(found);
    }
  });
});

describe('the sensitivity of detectors', () => {
  it('is a list of rules, and is told what is wrong with it', () => {
    const { checkSetting } = alerting;
    const faultOf = (value: Json): string | null => checkSetting?.({ tenantId: 1, key: 'sensitivity', value }) ?? null;
    for (const value of alerting.settings?.['sensitivity'] ?? []) expect(faultOf(value)).to.equal(null);
    const rule = { sensitivity: 'low' };
    const cases: readonly (readonly [Json, RegExp])[] = [
      ['low', /^The sensitivity is a list of rules\.$/],
      [Array.from({ length: 51 }, () => rule), /^There are at most 50 rules\.$/],
      [[rule, 5], /^Rule 2: it must be an object with "sensitivity"/],
      [[{ ...rule, detectors: 'silence' }], /^Rule 1: it has no "detectors"; it has detector, stream, sensitivity\.$/],
      [[{}], /^Rule 1: the sensitivity is one of off, low, normal, high\.$/],
      [[{ sensitivity: '__proto__' }], /^Rule 1: the sensitivity is one of/],
      [[{ ...rule, detector: 'constructor' }], /^Rule 1: the detector is one of error_rate, .*, new_pattern\.$/],
      [[{ ...rule, stream: '{service=' }], /^Rule 1: the stream is a selector such as \{service="web"\}: /],
      [[{ ...rule, stream: 'error' }], /: this is another filter\.$/],
      [[{ ...rule, stream: '{a="b"} | limit 5' }], /expected a filter without pipes/],
      [[{ ...rule, stream: '{a=~"b.*"}' }, rule], /^Rule 1: .*it takes no regexps/],
      [[{ ...rule, stream: 7 }], /: it must be a string\.$/],
    ];
    for (const [value, fault] of cases) expect(faultOf(value), JSON.stringify(value)).to.match(fault);
  });
});
