import { expect } from 'chai';
import { alertColumns } from '../../../../pipeline/alerts/alert-columns.ts';
import type { Alert, AlertRow } from '../../../../pipeline/alerts/alert.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/absolute-record.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/kafka.ts';
import { encodeTick } from '../../../../pipeline/bus/record.ts';
import { SETTING, settingText, type Json } from '../../../../pipeline/core/setting.ts';
import { alerting } from '../../../../pipeline/processors/alerting/alerts-merger.ts';
import { inputOf } from '../../../../pipeline/processors/input.ts';
import { partialInputOf, partialsSignal, resolutionRecord } from '../../../../pipeline/processors/merge/partials-signal.ts';
import { firstStage, secondStage } from '../../../../pipeline/processors/merge/stages.ts';
import { rates } from '../../../../pipeline/processors/rates/rates.ts';
import { logMessage, tickMessage } from '../inputs.ts';

const MINUTE_MS = 60_000;
/** 2026-11-24 00:00 UTC. */
const START = 1_795_478_400_000;
/** When something happens: after four hours, which is more than a stream is learned for. */
const THEN = 240;
const SOURCES = 2;

/** Entries of a service in a minute, so many of them errors, in a partition of the log. */
type Came = { readonly service: string; readonly entries: number; readonly errors?: number; readonly partition?: number; readonly tenantId?: number }; // prettier-ignore

/** What is told, by the way of the service: `rates` reads partitions of the log, `alerting` reads one of `partials.v1`. */
class Stages {
  readonly #first = firstStage(rates);
  readonly #counted = Array.from({ length: SOURCES }, () => this.#first.init());
  readonly #offsets = [0, 0];
  readonly #second = secondStage(alerting);
  #watched = this.#second.init();
  #offset = 0;
  minute = 0;
  readonly rows: AlertRow[] = [];
  /** The alerts that each input has told. */
  readonly told: AlertRow[][] = [];

  /** Minutes in which this came: half of it in the middle of each, and the rest at its end. */
  run(minutes: number, came: (minute: number) => readonly Came[]): void {
    for (const end = this.minute + minutes; this.minute < end; this.minute++)
      for (const part of [0, 1]) {
        const at = START + this.minute * MINUTE_MS + 29_000 + part * 30_000;
        for (const one of came(this.minute)) this.#log(at, part, one);
        for (let source = 0; source < SOURCES; source++) this.#input(source, tickMessage(this.#next(source), at + 500));
      }
  }

  resolve(alert: Alert, note: string): void {
    this.#take(resolutionRecord({ alert, note }), START + this.minute * MINUTE_MS);
  }

  /** Says something to the merger. */
  set(value: Json, { tenantId = 0, version = 1 }: { tenantId?: number; version?: number } = {}): void {
    const setting = { processor: 'alerting', tenantId, key: 'sensitivity', value, version };
    const message = tickMessage(this.#offset++, START + this.minute * MINUTE_MS, setting);
    const tick = encodeTick(partialsSignal, { [SETTING]: settingText(setting) });
    this.#second.fold(this.#watched, partialInputOf(0, { ...message, ...tick } as KafkaMessage));
  }

  /** Begins again from a snapshot. */
  restart(): void {
    const restored = this.#second.restore(this.#second.snapshot(this.#watched));
    if (restored === null) throw new Error('The snapshot cannot be read.');
    this.#watched = restored;
  }

  /** The last word on each alert, in the order in which they fired. */
  get alerts(): AlertRow[] {
    return [...new Map(this.rows.map((row) => [row.id, row])).values()];
  }

  #next(source: number): number {
    const offset = this.#offsets[source] ?? 0;
    this.#offsets[source] = offset + 1;
    return offset;
  }

  #log(at: number, part: number, { service, entries, errors = 0, partition = 0, tenantId = 1 }: Came): void {
    const half = (all: number): number => Math.floor((all + part) / 2);
    const _time = new Date(at - 1000).toISOString();
    const rows = Array.from({ length: half(entries) }, (_none, index) => ({ _time, _msg: 'x', service, level: index < half(errors) ? 'error' : 'info' })); // prettier-ignore
    if (rows.length > 0)
      this.#input(partition, logMessage(rows, { offset: this.#next(partition), appendedAt: at, tenantId, streamFields: ['service'] }));
  }

  #input(source: number, message: KafkaMessage): void {
    for (const record of this.#first.fold(this.#counted[source], inputOf(source, message)))
      if (record.topic === 'partials.v1') this.#take(record, Number(message.timestamp));
  }

  #take({ value, headers }: AbsoluteRecord, at: number): void {
    const message = { value, headers, offset: String(this.#offset++), timestamp: String(at) } as KafkaMessage;
    const rows = this.#second
      .fold(this.#watched, partialInputOf(0, message))
      .flatMap((record) => alertColumns.read(record.value, Number(record.headers['count'])) as AlertRow[]);
    this.rows.push(...rows);
    if (rows.length > 0) this.told.push(rows);
  }
}

/** Counts around a level, not always the same. */
const around = (level: number, minute: number): number => level + ((minute * 7) % 9) - 4;
const usual = (minute: number): Came[] => [
  { service: 'checkout', entries: around(30, minute), errors: minute % 3 === 0 ? 1 : 0 },
  { service: 'cart', entries: around(30, minute + 4) },
];

/** Stages that know what is usual. */
function learned(came: (minute: number) => readonly Came[] = usual): Stages {
  const stages = new Stages();
  stages.run(THEN, came);
  expect(stages.rows).to.deep.equal([]);
  return stages;
}

describe('alerting, by what rates has counted', () => {
  it('tells errors of a stream as an alert with its evidence, raises its fire count, and resolves it when it is over', () => {
    const stages = learned();
    stages.run(10, (minute) => [{ service: 'checkout', entries: 60, errors: 35 }, usual(minute)[1] as Came]);
    const [errors, entries, ...others] = stages.alerts.sort((a, b) => a.detector.localeCompare(b.detector));
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

    stages.run(40, usual);
    expect(stages.alerts.map(({ state, note }) => [state, note])).to.deep.equal([
      ['resolved', 'auto: back within baseline'],
      ['resolved', 'auto: back within baseline'],
    ]);
    expect(stages.alerts[0]?.resolvedAt).to.be.within(START / 1000 + (THEN + 18) * 60, START / 1000 + (THEN + 40) * 60);
  });

  it('tells of an alert once for each partial, and under one id', () => {
    const stages = learned();
    stages.run(10, () => [{ service: 'checkout', entries: 300 }, { service: 'cart', entries: 300 }]); // prettier-ignore
    expect(stages.alerts).to.have.length(2);
    for (const rows of stages.told) expect(new Set(rows.map(({ id }) => id)).size).to.equal(rows.length);
    const versions = stages.rows.map(({ version }) => version);
    expect(versions).to.deep.equal([...versions].sort((a, b) => a - b));
  });

  it('gives alerts of a service that fire together one incident, and others another', () => {
    const stages = learned();
    stages.run(5, () => [{ service: 'checkout', entries: 200, errors: 150 }, { service: 'cart', entries: 300 }]); // prettier-ignore
    const incidents = new Map<string, Set<number>>();
    for (const { stream, incidentId } of stages.alerts) incidents.set(stream, (incidents.get(stream) ?? new Set()).add(incidentId));
    expect([...incidents.values()].map(({ size }) => size)).to.deep.equal([1, 1]);
    expect(new Set([...incidents.values()].flatMap((ids) => [...ids])).size).to.equal(2);
  });

  it('adds up a stream that lies in several partitions, and fires nothing where it moves to more or fewer', () => {
    const stages = learned();
    const spread = (minute: number): Came[] => usual(minute).flatMap((one) => {
      const half = Math.floor(one.entries / 2);
      return [{ ...one, entries: half }, { ...one, entries: one.entries - half, partition: 1 }];
    }); // prettier-ignore
    stages.run(60, spread);
    stages.run(30, usual);
    expect(stages.rows).to.deep.equal([]);
    stages.run(5, (minute) => spread(minute).map((one) => ({ ...one, entries: one.entries * 5 })));
    expect(stages.alerts.map(({ detector }) => detector)).to.deep.equal(['log_rate', 'log_rate']);
  });

  it('is quiet about what somebody has resolved, with the note, until it was back', () => {
    const stages = learned();
    const hot = (minute: number): Came[] => [{ service: 'checkout', entries: 300 }, usual(minute)[1] as Came];
    stages.run(4, hot);
    const [alert] = stages.alerts;
    stages.resolve({ ...(alert as AlertRow), resolvedAt: null, incidentId: alert?.incidentId ?? null }, 'known: sale');
    stages.restart();
    stages.run(10, hot);
    expect(stages.alerts.map(({ state, note }) => [state, note])).to.deep.equal([['resolved', 'known: sale']]);
    stages.run(100, usual);
    stages.run(4, hot);
    expect(stages.alerts.map(({ state }) => state)).to.deep.equal(['resolved', 'firing']);
  });

  it('knows streams of one tenant from those of another', () => {
    const both = (minute: number): Came[] => [...usual(minute), ...usual(minute).map((one) => ({ ...one, tenantId: 2 }))];
    const stages = learned(both);
    stages.run(5, (minute) => both(minute).map((one) => (one.tenantId === 2 && one.service === 'cart' ? { ...one, entries: 250 } : one)));
    expect(stages.alerts.map(({ tenantId, stream }) => [tenantId, stream])).to.deep.equal([[2, '{service="cart"}']]);
  });

  it('tells of a stream that has stopped that it is silent', () => {
    const stages = learned();
    stages.run(20, (minute) => usual(minute).slice(1));
    expect(stages.alerts.map(({ detector, title }) => [detector, title.endsWith('is silent')])).to.deep.equal([['silence', true]]);
    // the other stream goes on, seldom asked
    stages.run(25 * 60, (minute) => (minute % 30 === 0 ? [{ service: 'cart', entries: 30 * 30 }] : []));
    expect(stages.alerts.filter(({ stream }) => stream === '{service="checkout"}').map(({ state, note }) => [state, note])).to.deep.equal([
      ['resolved', 'auto: no entries for a day'],
    ]);
  });

  it('heeds how easily detectors shall fire: by tenant, detector and stream, from a snapshot on too', () => {
    const both = (minute: number, factor = 1): Came[] =>
      [1, 2].flatMap((tenantId) => usual(minute).map((one) => ({ ...one, entries: one.entries * factor, tenantId })));
    const rules: readonly (readonly [(stages: Stages) => void, readonly string[]])[] = [
      [(stages) => { stages.set([{ sensitivity: 'off' }]); }, []], // prettier-ignore
      [(stages) => { stages.set([{ detector: 'log_rate', stream: '{service="cart"}', sensitivity: 'off' }], { tenantId: 2 }); }, ['1 cart', '1 checkout', '2 checkout']], // prettier-ignore
      [(stages) => { stages.set([{ detector: 'silence', sensitivity: 'off' }], { tenantId: 2 }); }, ['1 cart', '1 checkout', '2 cart', '2 checkout']], // prettier-ignore
      // the first rule that fits, and a tenant's own before those of all
      [(stages) => {
        stages.set([{ sensitivity: 'off' }]);
        stages.set([{ stream: '{service in ("cart","bank")}', sensitivity: 'normal' }, { stream: '{service="cart"}', sensitivity: 'off' }], { tenantId: 1 }); // prettier-ignore
      }, ['1 cart']], // prettier-ignore
      // an older version says nothing any more, and what is taken back neither
      [(stages) => {
        stages.set([], { version: 3 });
        stages.set([{ sensitivity: 'off' }], { version: 2 });
        stages.set([{ sensitivity: 'off' }], { tenantId: 2 });
        stages.set(null, { tenantId: 2, version: 2 });
      }, ['1 cart', '1 checkout', '2 cart', '2 checkout']], // prettier-ignore
    ];
    for (const [say, found] of rules) {
      const stages = learned((minute) => both(minute));
      say(stages);
      stages.restart();
      stages.run(4, (minute) => both(minute, 8));
      expect(stages.alerts.map(({ tenantId, service }) => `${String(tenantId)} ${service}`).sort()).to.deep.equal(found);
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
      [[{ ...rule, detector: 'constructor' }], /^Rule 1: the detector is one of error_rate, silence, log_rate\.$/],
      [[{ ...rule, stream: '{service=' }], /^Rule 1: the stream is a selector such as \{service="web"\}: /],
      [[{ ...rule, stream: 'error' }], /: this is another filter\.$/],
      [[{ ...rule, stream: '{a="b"} | limit 5' }], /expected a filter without pipes/],
      [[{ ...rule, stream: '{a=~"b.*"}' }, rule], /^Rule 1: .*it takes no regexps/],
      [[{ ...rule, stream: 7 }], /: it is no text\.$/],
    ];
    for (const [value, fault] of cases) expect(faultOf(value), JSON.stringify(value)).to.match(fault);
  });
});
