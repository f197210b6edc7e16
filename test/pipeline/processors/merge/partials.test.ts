import { expect } from 'chai';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { encodeHeaders } from '../../../../pipeline/bus/records/record.ts';
import type { PartialInput } from '../../../../pipeline/processors/base/partial.ts';
import { hostedMerger, partialInputOf, partialRecord, partialsSignal } from '../../../../pipeline/processors/merge/partials.ts';
import type { Merger, MergerInput } from '../../../../pipeline/processors/merge/merger.ts';

const AT = 1_795_478_400_000;
const output = { tenantId: 7, retentionDays: 30, value: Buffer.from('x') };
const messageOf = ({ value, headers }: Pick<KafkaMessage, 'value' | 'headers'>, offset = 5): KafkaMessage =>
  ({ value, headers, offset: String(offset), timestamp: String(AT) }) as KafkaMessage;

describe('a partial of a merger', () => {
  it('has no source, and is read as one of its own place', () => {
    const input = partialInputOf(3, messageOf(partialRecord('custom-detectors', null, output)));
    const place = { partition: 3, offset: 5, appendedAt: AT };
    expect(input).to.deep.equal({ kind: 'partial', ...place, ...output, processor: 'custom-detectors', source: { ...place, number: 0 } });
  });

  it('is read as well as releases before wrote it', () => {
    const info = { tenantId: 7, retentionDays: 30, count: 1, bytes: 0 };
    const former = (encoding: string): ReturnType<typeof partialInputOf> =>
      partialInputOf(3, messageOf({ value: output.value, headers: encodeHeaders(partialsSignal, { ...info, encoding }) }));
    for (const [encoding, processor] of [
      ['finding', 'custom-detectors'],
      ['values', 'rule-alerts'],
    ] as const)
      // prettier-ignore
      expect(former(encoding)).to.include({ kind: 'partial', processor, tenantId: 7, retentionDays: 30 });
    expect(former('partial')).to.include({ kind: 'tick' });
  });

  it('comes to those that state it as often as it is there; for others time has passed', () => {
    const seen: MergerInput[] = [];
    const merger = (ofMergers?: readonly string[]): Merger => ({
      ...{ name: 'm', of: 'rates', ...(ofMergers === undefined ? {} : { ofMergers }), init: () => null },
      fold(_state, input) {
        seen.push(input);
        return [];
      },
      ...{ snapshot: () => Buffer.alloc(0), restore: () => null },
    });
    for (const one of [merger(['custom-detectors']), merger()]) {
      const hosted = hostedMerger(one);
      const state = hosted.init();
      for (const offset of [5, 6])
        hosted.fold(state, partialInputOf(3, messageOf(partialRecord('custom-detectors', null, output), offset)));
    }
    expect(seen.map((input) => [input.kind, (input as Partial<PartialInput>).processor, input.offset])).to.deep.equal([
      ['partial', 'custom-detectors', 5],
      ['partial', 'custom-detectors', 6],
      ['tick', undefined, 5],
      ['tick', undefined, 6],
    ]);
  });
});
