import { KINDS, type MetricFacts, type Labels } from '../../samples/definition.ts';
import { HISTOGRAM, histogramFault, readHistogram } from '../../samples/histogram.ts';
import type { SamplesWriter } from '../../samples/samples-writer.ts';
import { fixed64Tag, varintTag } from '../../wire/protobuf.ts';
import type { ByteWalk } from './byte-walk.ts';

/** Of Sample, Exemplar and Histogram. */
const SAMPLE = { value: fixed64Tag(1), timestamp: varintTag(2), startTimestamp: varintTag(3) } as const;
/** Bytes of a value with its tag, and of the tag behind it. */
const VALUE_AND_TAGS = 10;
const SUM = fixed64Tag(HISTOGRAM.sum);
const TIME = varintTag(HISTOGRAM.timestamp);
const START = varintTag(HISTOGRAM.startTimestamp);

/** Facts of the number of a kind, which both versions number alike. */
export const factsOf = (type: number, help: string, unit: string): MetricFacts => ({
  kind: KINDS[type] ?? 'unknown',
  ...{ help, unit, isDelta: false },
});

/** Takes the Sample up to `end`. `created`: since when it counts, where it does not say so itself. */
export function takeSample(walk: ByteWalk, end: number, out: SamplesWriter, created: number): void {
  const { at, bytes } = walk;
  // as every sender writes it: value and time
  if (end - at > VALUE_AND_TAGS && bytes[at] === SAMPLE.value && bytes[at + VALUE_AND_TAGS - 1] === SAMPLE.timestamp) {
    walk.at = at + VALUE_AND_TAGS;
    const sampled = walk.int64(end);
    if (walk.at === end) {
      out.number(sampled, walk.word(at + 1), walk.word(at + 5), created);
      return;
    }
    walk.at = at;
  }
  let [low, high, time, start] = [0, 0, 0, created];
  while (walk.at < end) {
    const tag = walk.tag(end);
    if (tag === SAMPLE.value) {
      const at = walk.fixed64(end);
      low = walk.word(at);
      high = walk.word(at + 4);
    } else if (tag === SAMPLE.timestamp) time = walk.int64(end);
    else if (tag === SAMPLE.startTimestamp) start = walk.int64(end);
    else walk.skip(tag, end);
  }
  out.number(time, low, high, start);
}

/** Takes the Histogram up to `end`: what is no column of a row is its payload, byte for byte. */
export function takeHistogram(walk: ByteWalk, end: number, out: SamplesWriter, created: number): void {
  const parts: Buffer[] = [];
  let [low, high, time, start] = [0, 0, 0, created];
  while (walk.at < end) {
    const from = walk.at;
    const tag = walk.tag(end);
    if (tag === SUM) {
      const at = walk.fixed64(end);
      low = walk.word(at);
      high = walk.word(at + 4);
    } else if (tag === TIME) time = walk.int64(end);
    else if (tag === START) start = walk.int64(end);
    else {
      walk.skip(tag, end);
      parts.push(walk.bytes.subarray(from, walk.at));
    }
  }
  const payload = Buffer.concat(parts);
  const fault = histogramFault(readHistogram(payload));
  if (fault === '') out.histogram(time, low, high, payload, start);
  else out.reject(fault);
}

/** Takes the Exemplar up to `end`, whose value and time are as a Sample's. `labelsOf` takes a field that is none of these. */
export function takeExemplar(
  walk: ByteWalk,
  end: number,
  out: SamplesWriter,
  fields: typeof EXEMPLAR_1,
  labelsOf: (tag: number) => void,
  labels: () => Labels,
): void {
  // prettier-ignore
  let [low, high, time] = [0, 0, 0];
  while (walk.at < end) {
    const tag = walk.tag(end);
    if (tag === fields.value) {
      const at = walk.fixed64(end);
      low = walk.word(at);
      high = walk.word(at + 4);
    } else if (tag === fields.timestamp) time = walk.int64(end);
    else labelsOf(tag);
  }
  out.exemplar(time, low, high, labels());
}

/** Fields of Exemplar beside its labels, in both versions. */
export const EXEMPLAR_1 = { value: fixed64Tag(2), timestamp: varintTag(3) } as const;
