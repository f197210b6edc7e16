import { factsText, NAME, type Labels } from '../../samples/definition.ts';
import { KeyBytes } from '../../samples/key-bytes.ts';
import type { SamplesWriter } from '../../samples/samples-writer.ts';
import { lengthTag, varintTag } from '../../wire/protobuf.ts';
import { ByteWalk } from './byte-walk.ts';
import { EXEMPLAR_1, factsOf, takeExemplar, takeHistogram, takeSample } from './series-parts.ts';

/** Fields of remote write 2.0 (https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/). */
const REQUEST = { symbols: lengthTag(4), timeseries: lengthTag(5) } as const;
const SERIES = {
  ...{ labelsRefs: lengthTag(1), labelsRef: varintTag(1), samples: lengthTag(2), histograms: lengthTag(3), exemplars: lengthTag(4) },
  ...{ metadata: lengthTag(5), createdTimestamp: varintTag(6) },
} as const;
const METADATA = { type: varintTag(1), helpRef: varintTag(3), unitRef: varintTag(4) } as const;

/** Symbols of a request and refs of a series; the writer looks at the labels themselves. */
const MAX_SYMBOLS = 4_000_000;
const MAX_REFS = 10_000;

const key = new KeyBytes();

/** Takes a Request of version 2.0, decompressed. Its symbols may stand behind its series. */
export function readVersion2(body: Buffer, out: SamplesWriter): void {
  new Reader(body, out).request();
}

class Reader {
  readonly #walk: ByteWalk;
  readonly #out: SamplesWriter;
  readonly #end: number;
  /** Where each symbol begins and ends. */
  readonly #places: number[] = [];
  /** Refs of the series, and of an exemplar. */
  readonly #refs: number[] = [];
  readonly #exemplarRefs: number[] = [];

  constructor(body: Buffer, out: SamplesWriter) {
    this.#walk = new ByteWalk(body);
    this.#out = out;
    this.#end = body.length;
  }

  request(): void {
    this.#each(REQUEST.symbols, (from, to) => {
      if (this.#places.length >= 2 * MAX_SYMBOLS) this.#walk.fail(`more than ${String(MAX_SYMBOLS)} symbols`);
      this.#places.push(from, to);
    });
    this.#each(REQUEST.timeseries, (from, to) => {
      this.#walk.at = from;
      this.#series(to);
    });
  }

  #each(wanted: number, visit: (from: number, to: number) => void): void {
    const walk = this.#walk;
    const end = this.#end;
    walk.at = 0;
    while (walk.at < end) {
      const tag = walk.tag(end);
      if (tag !== wanted) walk.skip(tag, end);
      else {
        const to = walk.messageEnd(end);
        visit(walk.at, to);
        walk.at = to;
      }
    }
  }

  /** Labels, metadata and the time of creation may stand anywhere in a series: they are read before its samples. */
  #series(end: number): void {
    const walk = this.#walk;
    const out = this.#out;
    const start = walk.at;
    let [created, facts] = [0, ''];
    let metadata = { type: 0, help: '', unit: '' };
    this.#refs.length = 0;
    while (walk.at < end) {
      const tag = walk.tag(end);
      if (tag === SERIES.labelsRefs || tag === SERIES.labelsRef) this.#readRefs(tag, end, this.#refs);
      else if (tag === SERIES.createdTimestamp) created = walk.int64(end);
      else if (tag === SERIES.metadata) metadata = this.#metadata(walk.messageEnd(end));
      else walk.skip(tag, end);
    }
    facts = factsText(factsOf(metadata.type, metadata.help, metadata.unit));
    this.#useSeries(facts);
    walk.at = start;
    const before = out.total;
    while (walk.at < end) {
      const tag = walk.tag(end);
      if (tag === SERIES.samples) takeSample(walk, walk.messageEnd(end), out, created);
      else if (tag === SERIES.histograms) takeHistogram(walk, walk.messageEnd(end), out, created);
      else if (tag === SERIES.exemplars) this.#exemplar(walk.messageEnd(end));
      else walk.skip(tag, end);
    }
    // metadata alone
    if (out.total === before && facts !== '') this.#metadataAlone(metadata);
  }

  #useSeries(facts: string): void {
    const refs = this.#refs;
    const { bytes } = this.#walk;
    key.clear();
    if (refs.length % 2 === 1) {
      this.#out.refuseSeries('an odd number of references to symbols');
      return;
    }
    for (let i = 0; i < refs.length; i += 2) {
      const [name, value] = [2 * (refs[i] as number), 2 * (refs[i + 1] as number)];
      const places = this.#places;
      if (name >= places.length || value >= places.length) {
        this.#out.refuseSeries('a reference to a symbol that is not there');
        return;
      }
      key.pair(bytes, places[name] as number, places[name + 1] as number, bytes, places[value] as number, places[value + 1] as number);
    }
    key.facts(facts);
    this.#out.useSeries(key.bytes, 0, key.length);
  }

  #readRefs(tag: number, end: number, into: number[]): void {
    const walk = this.#walk;
    const to = tag === SERIES.labelsRefs ? walk.messageEnd(end) : end;
    do {
      if (into.length >= MAX_REFS) walk.fail(`more than ${String(MAX_REFS)} references to symbols`);
      if (walk.at < to) into.push(walk.varint(to));
    } while (tag === SERIES.labelsRefs && walk.at < to);
  }

  #symbol(ref: number): string {
    const [from, to] = [this.#places[2 * ref], this.#places[2 * ref + 1]];
    return from === undefined ? '' : this.#walk.bytes.toString('utf8', from, to);
  }

  #metadata(end: number): { type: number; help: string; unit: string } {
    const walk = this.#walk;
    let [type, help, unit] = [0, '', ''];
    while (walk.at < end) {
      const tag = walk.tag(end);
      if (tag === METADATA.type) type = walk.varint(end);
      else if (tag === METADATA.helpRef) help = this.#symbol(walk.varint(end));
      else if (tag === METADATA.unitRef) unit = this.#symbol(walk.varint(end));
      else walk.skip(tag, end);
    }
    return { type, help, unit };
  }

  #metadataAlone({ type, help, unit }: { readonly type: number; readonly help: string; readonly unit: string }): void {
    const labels = this.#labels(this.#refs);
    const name = labels.find(([label]) => label === NAME)?.[1] ?? '';
    this.#out.metadata(name, factsOf(type, help, unit));
  }

  #labels(refs: readonly number[]): Labels {
    const labels: [string, string][] = [];
    for (let i = 0; i + 1 < refs.length; i += 2) labels.push([this.#symbol(refs[i] as number), this.#symbol(refs[i + 1] as number)]);
    return labels;
  }

  #exemplar(end: number): void {
    const walk = this.#walk;
    const refs = this.#exemplarRefs;
    refs.length = 0;
    const field = (tag: number): void => {
      if (tag === SERIES.labelsRefs || tag === SERIES.labelsRef) this.#readRefs(tag, end, refs);
      else walk.skip(tag, end);
    };
    takeExemplar(walk, end, this.#out, EXEMPLAR_1, field, () => this.#labels(refs));
  }
}
