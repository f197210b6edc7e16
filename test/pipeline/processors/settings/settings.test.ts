import { expect } from 'chai';
import fc from 'fast-check';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { readChecked } from '../../../../pipeline/bus/records/record.ts';
import { logsSignal } from '../../../../pipeline/logs/logs-signal.ts';
import { inputOf } from '../../../../pipeline/processors/base/input.ts';
import { hostedProcessor } from '../../../../pipeline/processors/merge/partials.ts';
import type { Processor } from '../../../../pipeline/processors/base/processor.ts';
import { MAX_SETTING_BYTES, MAX_SETTINGS, parseSetting, settingText, type Setting } from '../../../../pipeline/core/setting.ts';
import { Settings } from '../../../../pipeline/processors/settings/settings.ts';
import { ByteReader, ByteWriter } from '../../../../pipeline/core/snapshot-bytes.ts';
import { tickMessage } from '../inputs.ts';
import { NOW } from '../logs.ts';

const said = (change: Partial<Setting> = {}): Setting => ({ processor: 'p', tenantId: 0, key: 'k', value: 1, version: 1, ...change });

/** Tells what it was told, and what it had been told at each input; snapshots have nothing of it. */
const told: string[] = [];
const processor: Processor<{ now: unknown }> = {
  name: 'p',
  init: () => ({ now: null }),
  fold: ({ now }, { offset }) => {
    told.push(`${String(offset)}: ${JSON.stringify(now)}`);
    return [];
  },
  settings: { k: [1] },
  checkSetting: () => null,
  configure(state, { value }) {
    state.now = value;
  },
  snapshot: () => Buffer.from('inner'),
  restore: (bytes) => (bytes.toString() === 'inner' ? { now: null } : null),
};
const hosted = hostedProcessor(processor);
const foldAll = (state: unknown, settings: readonly (Setting | undefined)[], from = 0): string[] => {
  told.length = 0;
  settings.forEach((setting, at) => hosted.fold(state, inputOf(3, tickMessage(from + at, NOW + at, setting))));
  return [...told];
};

describe('a setting', () => {
  it('is read as it was written', () => {
    const setting = fc.record({
      processor: fc.string(),
      tenantId: fc.nat(),
      key: fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/),
      value: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Setting['value']),
      version: fc.integer({ min: 1 }),
    });
    fc.assert(fc.property(setting, (one) => void expect(parseSetting(settingText(one))).to.deep.equal(one)));
  });

  it('is none where anything of it is wrong', () => {
    for (const change of [
      { tenantId: -1 },
      { version: 0 },
      { version: 1.5 },
      { key: 'K' },
      { key: '' },
      { value: 'x'.repeat(MAX_SETTING_BYTES) },
    ])
      expect(parseSetting(settingText(said(change))), JSON.stringify(change).slice(0, 50)).to.equal(null);
    for (const text of ['', 'null', '[]', '{}', '{"processor":1}', settingText(said()).slice(1)])
      expect(parseSetting(text), text).to.equal(null);
  });

  it('lies on the log in a tick, which readers of any kind pass over', () => {
    const message = tickMessage(7, NOW, said({ value: ['ü'] }));
    expect(readChecked(logsSignal, 3, message)).to.include({ encoding: 'tick', count: 0, tenantId: 0, fault: null });
    const place = { kind: 'tick', partition: 3, offset: 7, appendedAt: NOW };
    expect(inputOf(3, message)).to.deep.equal({ ...place, setting: said({ value: ['ü'] }) });
    const broken = { ...message, headers: { ...message.headers, setting: '{"key"' } };
    expect(inputOf(3, broken as KafkaMessage)).to.deep.equal(place);
  });
});

describe('a processor with settings', () => {
  it('is told what is newer, of what is for it, where it lies on the log', () => {
    const log = [
      undefined,
      said({ version: 2, value: 'a' }),
      said({ value: 'old' }),
      said({ version: 3, processor: 'q' }),
      said({ version: 3, value: null }),
    ];
    expect(foldAll(hosted.init(), log)).to.deep.equal(['0: null', '1: "a"', '2: "a"', '3: "a"', '4: null']);
  });

  it('goes on from any snapshot with what it was told, though its own have nothing of that', () => {
    const log = [said({ value: 'a' }), undefined, said({ version: 2, value: 'b' }), said({ value: 'a' }), undefined];
    const whole = foldAll(hosted.init(), log);
    for (let cut = 0; cut <= log.length; cut++) {
      const state = hosted.init();
      const before = foldAll(state, log.slice(0, cut));
      expect([...before, ...foldAll(hosted.restore(hosted.snapshot(state)), log.slice(cut), cut)]).to.deep.equal(whole);
    }
  });

  it('goes on from a snapshot from before it could be', () => {
    expect(foldAll(hosted.restore(Buffer.from('inner')), [undefined])).to.deep.equal(['0: null']);
    expect(hosted.restore(Buffer.from('other'))).to.equal(null);
  });

  it('lacks what it has not had yet, and nothing of others', () => {
    const state = hosted.init();
    const all = [said({ version: 2 }), said({ tenantId: 4 }), said({ processor: 'q' })];
    expect(hosted.lacks?.(state, all)).to.deep.equal(all.slice(0, 2));
    foldAll(state, [said({ version: 2 })]);
    expect(hosted.lacks?.(state, all)).to.deep.equal([all[1]]);
    foldAll(state, [said({ tenantId: 4, version: 9 })]);
    expect(hosted.lacks?.(state, all)).to.deep.equal([]);
  });
});

describe('the settings of a partition', () => {
  it('are bounded, and none is told again and again that has no room', () => {
    const settings = new Settings();
    for (let tenantId = 1; tenantId <= MAX_SETTINGS; tenantId++) expect(settings.take(said({ tenantId }))).to.equal(true);
    expect(settings.take(said({ tenantId: 5000 }))).to.equal(false);
    expect(settings.isNew(said({ tenantId: 5000 }))).to.equal(false);
    expect(settings.take(said({ tenantId: 5, version: 2 }))).to.equal(true);
    const to = new ByteWriter();
    settings.write(to);
    expect(Settings.read(new ByteReader(to.finish())).all).to.deep.equal(settings.all);
  });

  it('are the same bytes in whatever order they came', () => {
    const bytesOf = (all: readonly Setting[]): string => {
      const settings = new Settings();
      for (const setting of all) settings.take(setting);
      const to = new ByteWriter();
      settings.write(to);
      return to.finish().toString('hex');
    };
    const all = [said({ key: 'b', value: 'ü' }), said({ tenantId: 2 }), said()];
    expect(bytesOf(all)).to.equal(bytesOf(all.toReversed()));
  });
});
