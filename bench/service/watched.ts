import { alerting } from '../../pipeline/alerting/streams/alerting.ts';
import type { PartialInput } from '../../pipeline/processors/base/partial.ts';
import { hostedMerger } from '../../pipeline/processors/merge/partials.ts';
import { encodeRates } from '../../pipeline/processors/rates/rates.ts';

/** When it begins: milliseconds since 1970. */
export const START_MS = 1_795_269_600_000;
const MINUTE_MS = 60_000;
const HOURS = 5;

/** The merger as it is hosted. */
export const hosted = hostedMerger(alerting);

export const idOf = (stream: number): bigint => (BigInt(stream + 1) * 0x9e3779b97f4a7c15n) % 2n ** 64n;
export const textOf = (stream: number): string => `{host="h${String(stream)}",service="s${String(stream % 20)}"}`;

export const cpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/**
 * The snapshot of `alerting` where each of so many streams has had entries in each minute of five hours (a stream is learned for three) and was asked
 * each ten seconds; and CPU µs of a stream and minute in the last hour, and bytes of a stream.
 */
export function watched(streamCount: number): { readonly snapshot: Buffer; readonly perMinute: number; readonly bytes: number } {
  const state = hosted.init();
  let [spent, offset] = [0, 0];
  for (let tell = 0; tell < HOURS * 360; tell++) {
    const appendedAt = START_MS + tell * 10_000;
    const told = Array.from({ length: streamCount }, (_none, stream) => {
      const bySeverity = [0, 0, 0, 5 + ((stream + tell) % 7), 0, 0, 0];
      return {
        id: Buffer.from(idOf(stream).toString(16).padStart(16, '0'), 'hex').toString('latin1'),
        stream: tell === 0 ? textOf(stream) : null,
        minutes: [{ minute: Math.floor(appendedAt / MINUTE_MS), bySeverity }],
      };
    });
    const source = { partition: 0, offset, number: 0, appendedAt };
    const input: PartialInput = { kind: 'partial', partition: 0, offset: offset++, appendedAt, tenantId: 1, retentionDays: 30, processor: 'rates', source, value: encodeRates(told) }; // prettier-ignore
    const before = cpuUs();
    hosted.fold(state, input);
    if (tell >= (HOURS - 1) * 360) spent += cpuUs() - before;
  }
  const snapshot = Buffer.from(hosted.snapshot(state));
  return { snapshot, perMinute: spent / (streamCount * 60), bytes: snapshot.length / streamCount };
}
