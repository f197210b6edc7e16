import { expect } from 'chai';
import { otlpMetrics } from '../../../../pipeline/normalizers/otlp-metrics.ts';
import { MetricContexts } from '../../../../pipeline/normalizers/otlp/metric-contexts.ts';
import { SamplesCodec } from '../../../../pipeline/samples/sample-chunk.ts';
import { extent } from '../../../extent.ts';
import { anyMetrics, metricsProtobuf } from '../../../fixtures/otlp/metrics.ts';
import { Random } from '../../../fuzz/random.ts';
import { takeSamples, type SampleOptions, type TakenSamples } from '../../samples/take-samples.ts';
import { bytesField, fixed64Field } from '../protobuf-writer.ts';

const AT = 1_795_269_600_000;
const NS = `${String(AT)}000000`;
const JSON_TYPE = { contentType: 'application/json' };
const PROTOBUF_TYPE = { contentType: 'application/x-protobuf' };

function taken(body: string | Buffer, options: SampleOptions): TakenSamples {
  const result = takeSamples(otlpMetrics, body, options);
  if (!('entries' in result)) throw new Error(result.detail);
  return result;
}
const refusal = (body: string | Buffer, options: SampleOptions = JSON_TYPE): unknown => {
  const result = takeSamples(otlpMetrics, body, options);
  return 'entries' in result ? result.rejected : result;
};
const metric = (members: string): string => `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${members}]}]}]}`;
const gauge = (point: string): string => metric(`{"name":"x","gauge":{"dataPoints":[${point}]}}`);
const seriesIn = (body: string, options: SampleOptions = {}): unknown[] =>
  taken(body, { ...JSON_TYPE, ...options }).entries.map(({ series }) => series);

describe('OTLP metrics', () => {
  it('are the same rows in JSON and in protobuf, when their series are new and when they are known', () => {
    let rows = 0;
    for (let seed = 1; seed <= extent(60, 2000); seed++) {
      const request = anyMetrics(new Random(seed), AT);
      const [text, bytes] = [JSON.stringify(request), metricsProtobuf(request)];
      const codec = new SamplesCodec();
      const inJson = taken(text, { ...JSON_TYPE, codec });
      const own = (result: TakenSamples): unknown => ({ entries: result.entries, rejected: result.rejected.map(({ reason }) => reason) });
      rows += inJson.entries.length;
      for (const again of [
        taken(text, { ...JSON_TYPE, codec }),
        taken(bytes, { ...PROTOBUF_TYPE, codec }),
        taken(bytes, { ...PROTOBUF_TYPE, codec }),
      ])
        expect(own(again), `seed ${String(seed)}`).to.deep.equal(own(inJson));
    }
    expect(rows).to.be.above(300);
  });

  it('in JSON may have their members in any order, in snake_case, with white space', () => {
    const text = `{ "resource_metrics" : [ {"scopeMetrics":[{"metrics":[
      {"histogram":{"dataPoints":[{"explicitBounds":[1],"bucketCounts":["1",2],"count":3,"time_unix_nano":${NS},"attributes":[{"value":{"stringValue":"b"},"key":"a"}]}],
       "aggregationTemporality":"AGGREGATION_TEMPORALITY_DELTA"},"unit":"s","name":"t"}]}],
      "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]} } ] }\n`;
    const { entries } = taken(text, JSON_TYPE);
    const labels = 'a="b",job="shop"';
    expect(entries.map(({ series, value, facts }) => [series, value, (facts as { delta?: boolean }).delta])).to.deep.equal([
      [`t_seconds_count{${labels}}`, 3, true],
      [`t_seconds_bucket{a="b",job="shop",le="1"}`, 1, true],
      [`t_seconds_bucket{a="b",job="shop",le="+Inf"}`, 3, true],
    ]);
  });

  it('of one metric with other attributes, units, resources and flags are other series', () => {
    const codec = new SamplesCodec();
    const body = (service: string, unit: string, value: string): string =>
      `{"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"${service}"}}]},"scopeMetrics":[{"metrics":[{"name":"a.b","unit":"${unit}","gauge":{"dataPoints":[{"timeUnixNano":"${NS}","asInt":"1","attributes":[{"key":"k.l","value":{"stringValue":"${value}"}}]}]}}]}]}]}`;
    for (const _round of [1, 2]) {
      expect(seriesIn(body('one', 's', 'v'), { codec })).to.deep.equal(['a_b_seconds{job="one",k_l="v"}']);
      expect(seriesIn(body('two', 's', 'v'), { codec })).to.deep.equal(['a_b_seconds{job="two",k_l="v"}']);
      expect(seriesIn(body('one', 'm', 'v'), { codec })).to.deep.equal(['a_b_meters{job="one",k_l="v"}']);
      expect(seriesIn(body('one', 's', 'w'), { codec })).to.deep.equal(['a_b_seconds{job="one",k_l="w"}']);
      expect(seriesIn(body('one', 's', 'v'), { codec, utf8Names: true })).to.deep.equal(['a.b_seconds{job="one",k.l="v"}']);
    }
  });

  it('with attributes that are long, or nested too deep, are known by nothing and judged each time', () => {
    const codec = new SamplesCodec();
    const padded = gauge(
      `{"timeUnixNano":"${NS}","asDouble":1,"attributes":[{"key":"a","pad":"${'x'.repeat(70_000)}","value":{"stringValue":"b"}}]}`,
    );
    const nested = (levels: number): string =>
      gauge(
        `{"timeUnixNano":"${NS}","asDouble":1,"attributes":[{"key":"a","value":${'{"arrayValue":{"values":['.repeat(levels)}{"intValue":1}${']}}'.repeat(levels)}}]}`,
      );
    for (const _round of [1, 2]) {
      expect(seriesIn(padded, { codec })).to.deep.equal(['x{a="b"}']);
      for (const levels of [70, 50_000])
        expect(taken(nested(levels), { ...JSON_TYPE, codec }).rejected.map(({ reason }) => reason)).to.deep.equal([
          'an attribute nested deeper than 64 levels',
        ]);
    }
    expect(codec.known.table.size).to.equal(1);
    expect(codec.known.table.length).to.be.below(1000);
  });

  it('in JSON that is none are a 400, and lists that are none one that names them', () => {
    const bad = (body: string, detail: RegExp): void => {
      const { status, detail: found } = refusal(body) as { status: number; detail: string };
      expect(status, body.slice(0, 40)).to.equal(400);
      expect(found).to.match(detail);
    };
    for (const body of ['', '{"resourceMetrics":[', gauge('{"asDouble":01}'), gauge('{"attributes":[{"key":"a",}]}'), `${gauge('{}')} x`])
      bad(body, /^The body is not JSON: /);
    bad('[1]', /^The body is not an object; send \{"resourceMetrics":\[…\]\}\.$/);
    bad('{"resourceMetrics":[1]}', /An element of resourceMetrics is not an object/);
    bad(metric('{"name":"x","sum":{"dataPoints":{}}}'), /dataPoints is not an array/);
    bad(gauge('1'), /An element of dataPoints is not an object/);
    bad(gauge(`{"attributes":${'['.repeat(100_000)}`), /^The body is not JSON: /);
  });

  it('with numbers that are none are rejected alone, with the reason', () => {
    const good = `{"timeUnixNano":"${NS}","asDouble":"1e3"}`;
    for (const point of [
      `{"timeUnixNano":"${NS}","asDouble":"x"}`,
      `{"timeUnixNano":"${NS}","asInt":{}}`,
      `{"timeUnixNano":-1,"asInt":1}`,
      `{"timeUnixNano":"noon","asInt":1}`,
      `{"timeUnixNano":"${NS}","asInt":1,"flags":[]}`,
    ]) {
      const { entries, rejected, ack } = taken(gauge(`${point},${good}`), JSON_TYPE);
      expect(
        entries.map(({ value }) => value),
        point,
      ).to.deep.equal([1000]);
      expect(rejected.map(({ reason }) => reason)).to.deep.equal(['a member that must be a number is none']);
      expect(JSON.stringify(ack.body)).to.contain('rejectedDataPoints');
    }
  });

  it('in protobuf whose attributes are corrupt are a 400, also in a point that is rejected', () => {
    const attribute = bytesField(7, Buffer.from([0x0a, 0x7f, 0x61]));
    const pointOf = (...fields: Buffer[]): Buffer =>
      bytesField(1, bytesField(2, bytesField(2, bytesField(1, 'x'), bytesField(5, bytesField(1, attribute, ...fields)))));
    for (const fields of [[fixed64Field(3, BigInt(NS)), fixed64Field(6, 1n)], [fixed64Field(3, BigInt(NS))]])
      expect((refusal(pointOf(...fields), PROTOBUF_TYPE) as { status: number }).status).to.equal(400);
  });
});

describe('contexts of metrics', () => {
  const of = (contexts: MetricContexts, name: string): number =>
    contexts.of({ name, description: '', unit: '', kind: 'gauge', isDelta: false, isMonotonic: false }, [], '[]', false).id;

  it('are bounded, and a number is given once', () => {
    const contexts = new MetricContexts(1000);
    const first = of(contexts, 'a');
    expect(of(contexts, 'a')).to.equal(first);
    const others = Array.from({ length: 100 }, (_none, index) => of(contexts, `metric-${String(index)}`));
    const again = of(contexts, 'a');
    expect(new Set([first, again, ...others]).size).to.equal(102);
  });
});
