import fc from 'fast-check';
import type { KafkaMessage } from '../../../pipeline/bus/kafka.ts';
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

/** Records and ticks of a partition, of several tenants, streams, services, users, levels and times; append times may go backwards. */
export const log: fc.Arbitrary<KafkaMessage[]> = fc
  .array(
    fc.record({
      isTick: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
      later: fc.integer({ min: -5000, max: 400_000 }),
      tenantId: fc.integer({ min: 1, max: 3 }),
      retentionDays: fc.constantFrom(0, 14),
      entries: fc.array(entry, { maxLength: 6 }),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((records) => {
    let appendedAt = NOW;
    return records.map(({ isTick, later, tenantId, retentionDays, entries }, offset) => {
      appendedAt += later;
      if (isTick) return tickMessage(offset, appendedAt);
      const objects = entries.map(({ agoMs, text, ...fields }) => ({
        _time: new Date(appendedAt - agoMs).toISOString(),
        _msg: text,
        ...fields,
      }));
      return logMessage(objects, { offset, appendedAt, tenantId, retentionDays, bytes: 10 + offset });
    });
  });

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
