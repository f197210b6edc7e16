import fc from 'fast-check';
import type { KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import type { Processor } from '../../../pipeline/processors/base/processor.ts';
import type { Setting } from '../../../pipeline/core/setting.ts';
import { logMessage, tickMessage } from './inputs.ts';

export const NOW = 1_795_269_600_000;

const entry = fc.record({
  app: fc.constantFrom('a', 'b', 'ü'),
  service: fc.constantFrom('web', 'api', ''),
  user: fc.constantFrom('', 'u1', 'u2', 'u3', 'ü4'),
  level: fc.constantFrom('', 'info', 'ERROR'),
  agoMs: fc.nat(7_200_000),
  text: fc.string(),
});

/** What operators say to this processor: right values and others, of keys that it has and of others, taken back again, and to others. */
const settingFor = ({ name, settings = {} }: Pick<Processor, 'name' | 'settings'>): fc.Arbitrary<Setting | undefined> => {
  const said = [...Object.entries(settings), ['nothing', [1]] as const].flatMap(([key, values]) => values.map((value) => ({ key, value })));
  return fc.option(
    fc
      .record({
        processor: fc.constantFrom(name, name, name, 'another'),
        tenantId: fc.constantFrom(0, 0, 1),
        said: fc.constantFrom(...said),
        other: fc.option(fc.jsonValue({ maxDepth: 1 }), { freq: 3, nil: undefined }),
        version: fc.integer({ min: 1, max: 4 }),
      })
      .map(({ said: { key, value }, other, ...rest }) => ({
        ...rest,
        key,
        value: other === undefined ? value : (other as Setting['value']),
      })),
    { nil: undefined },
  );
};

/**
 * Records, ticks and settings of a partition, of several tenants, streams, services, users, levels and times; append times may go backwards.
 */
export const logFor = (processor: Pick<Processor, 'name' | 'settings'>): fc.Arbitrary<KafkaMessage[]> =>
  fc
    .array(
      fc.record({
        isTick: fc.integer({ min: 0, max: 5 }).map((n) => n <= 1),
        setting: settingFor(processor),
        later: fc.integer({ min: -5000, max: 400_000 }),
        tenantId: fc.integer({ min: 1, max: 3 }),
        retentionDays: fc.constantFrom(0, 14),
        entries: fc.array(entry, { maxLength: 6 }),
      }),
      { minLength: 1, maxLength: 30 },
    )
    .map((records) => {
      let appendedAt = NOW;
      return records.map(({ isTick, setting, later, tenantId, retentionDays, entries }, offset) => {
        appendedAt += later;
        if (isTick) return tickMessage(offset, appendedAt, setting);
        const objects = entries.map(({ agoMs, text, ...fields }) => ({
          _time: new Date(appendedAt - agoMs).toISOString(),
          _msg: text,
          ...fields,
        }));
        return logMessage(objects, { offset, appendedAt, tenantId, retentionDays, bytes: 10 + offset });
      });
    });

export const log = logFor({ name: 'any' });

/** Runs with a clock and a chance that are not to be asked. */
export function without<T>(run: () => T): T {
  const [now, random, perf] = [Date.now, Math.random, performance.now.bind(performance)];
  const asked = (): never => {
    throw new Error('A processor asked for the time or for chance.');
  };
  Object.assign(Date, { now: asked });
  Object.assign(Math, { random: asked });
  performance.now = asked;
  try {
    return run();
  } finally {
    Object.assign(Date, { now });
    Object.assign(Math, { random });
    performance.now = perf;
  }
}
