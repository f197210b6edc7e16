import { KeyBytes } from '../../samples/key-bytes.ts';
import type { SamplesWriter } from '../../samples/samples-writer.ts';
import { lengthTag, varintTag } from '../../wire/protobuf.ts';
import { ByteWalk } from './byte-walk.ts';
import { EXEMPLAR_1, factsOf, takeExemplar, takeHistogram, takeSample } from './series-parts.ts';

/** Fields of remote write 1.0 (https://prometheus.io/docs/specs/prw/remote_write_spec/). */
const REQUEST = { timeseries: lengthTag(1), metadata: lengthTag(3) } as const;
const SERIES = { labels: lengthTag(1), samples: lengthTag(2), exemplars: lengthTag(3), histograms: lengthTag(4) } as const;
const LABEL = { name: lengthTag(1), value: lengthTag(2) } as const;
const METADATA = { type: varintTag(1), name: lengthTag(2), help: lengthTag(4), unit: lengthTag(5) } as const;

/** A length that takes more than a byte. */
const MANY = 128;

const key = new KeyBytes();

/** Takes a WriteRequest of version 1.0, decompressed. */
export function readVersion1(body: Buffer, out: SamplesWriter): void {
  const walk = new ByteWalk(body);
  const end = body.length;
  while (walk.at < end) {
    const tag = walk.tag(end);
    if (tag === REQUEST.timeseries) readSeries(walk, walk.messageEnd(end), out);
    else if (tag === REQUEST.metadata) readMetadata(walk, walk.messageEnd(end), out);
    else walk.skip(tag, end);
  }
}

/** The labels stand before all else, as every sender writes them: they are found by their bytes. */
function readSeries(walk: ByteWalk, end: number, out: SamplesWriter): void {
  const start = walk.at;
  const { bytes } = walk;
  const guessed = out.guess(bytes, start, end);
  const isGuessed = guessed > 0 && bytes[start + guessed] !== SERIES.labels;
  if (isGuessed) walk.at = start + guessed;
  else
    while (walk.at < end && bytes[walk.at] === SERIES.labels) {
      walk.at += 1;
      walk.at = walk.messageEnd(end);
    }
  const labelsEnd = walk.at;
  if (hasLabels(walk, end)) useScattered(walk, start, end, out);
  else if (isGuessed) out.useGuessed(start, labelsEnd);
  else out.useSeries(bytes, start, labelsEnd);
  walk.at = labelsEnd;
  while (walk.at < end) {
    const tag = walk.tag(end);
    if (tag === SERIES.samples) takeSample(walk, walk.messageEnd(end), out, 0);
    else if (tag === SERIES.histograms) takeHistogram(walk, walk.messageEnd(end), out, 0);
    else if (tag === SERIES.exemplars) readExemplar(walk, walk.messageEnd(end), out);
    else walk.skip(tag, end);
  }
}

/** Whether labels follow behind other fields. */
function hasLabels(walk: ByteWalk, end: number): boolean {
  // one sample, as most series have
  const length = walk.bytes[walk.at] === SERIES.samples ? (walk.bytes[walk.at + 1] as number) : MANY;
  if (length < MANY && walk.at + 2 + length === end) return false;
  while (walk.at < end) {
    const tag = walk.tag(end);
    if (tag === SERIES.labels) return true;
    walk.skip(tag, end);
  }
  return false;
}

function useScattered(walk: ByteWalk, start: number, end: number, out: SamplesWriter): void {
  key.clear();
  walk.at = start;
  while (walk.at < end) {
    const from = walk.at;
    const tag = walk.tag(end);
    walk.skip(tag, end);
    if (tag === SERIES.labels) key.raw(walk.bytes, from, walk.at);
  }
  out.useSeries(key.bytes, 0, key.length);
}

function readExemplar(walk: ByteWalk, end: number, out: SamplesWriter): void {
  const labels: [string, string][] = [];
  const label = (tag: number): void => {
    if (tag === SERIES.labels) labels.push(readLabel(walk, walk.messageEnd(end)));
    else walk.skip(tag, end);
  };
  takeExemplar(walk, end, out, EXEMPLAR_1, label, () => labels);
}

function readLabel(walk: ByteWalk, end: number): [string, string] {
  let [name, value] = ['', ''];
  while (walk.at < end) {
    const tag = walk.tag(end);
    if (tag === LABEL.name) name = readText(walk, end);
    else if (tag === LABEL.value) value = readText(walk, end);
    else walk.skip(tag, end);
  }
  return [name, value];
}

function readText(walk: ByteWalk, end: number): string {
  const to = walk.messageEnd(end);
  const text = walk.bytes.toString('utf8', walk.at, to);
  walk.at = to;
  return text;
}

function readMetadata(walk: ByteWalk, end: number, out: SamplesWriter): void {
  let [type, name, help, unit] = [0, '', '', ''];
  while (walk.at < end) {
    const tag = walk.tag(end);
    if (tag === METADATA.type) type = walk.varint(end);
    else if (tag === METADATA.name) name = readText(walk, end);
    else if (tag === METADATA.help) help = readText(walk, end);
    else if (tag === METADATA.unit) unit = readText(walk, end);
    else walk.skip(tag, end);
  }
  out.metadata(name, factsOf(type, help, unit));
}
