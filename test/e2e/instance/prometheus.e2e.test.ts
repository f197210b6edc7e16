import { expect } from 'chai';
import { compress } from 'snappyjs';
import { DERIVED } from '../../../api/prometheus/derived-series.ts';
import { bytesField, varintField } from '../../pipeline/normalizers/protobuf-writer.ts';
import { difference, loadCases, loadSeries, type Case } from '../../promql/conformance.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

type Tenant = { readonly id: number; readonly key: string };
type Answer = Case['answer'] & { readonly warnings?: readonly string[] };
const PER_BODY = 20;

const label = (name: string, value: string): Buffer => bytesField(1, bytesField(1, name), bytesField(2, value));
/** A sample of remote write: the bits of the value as they are. */
function sample(value: Float64Array, time: number): Buffer {
  return bytesField(2, Buffer.concat([Buffer.of(0x09), Buffer.from(value.buffer, value.byteOffset, 8)]), varintField(2, time));
}

describe("Prometheus' query API", function () {
  this.timeout(300_000);
  let instance: Instance;
  let tenant: Tenant;
  let other: Tenant;

  const call = async (
    path: string,
    given: Iterable<[string, string]> | Record<string, string> = {},
    as = tenant,
    form = false,
  ): Promise<{ status: number; body: Answer }> => {
    // prettier-ignore
    const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/prometheus/api/v1/${path}`;
    const query = new URLSearchParams(given as Record<string, string>).toString();
    const headers = { Authorization: `Bearer ${as.key}`, ...(form ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {}) };
    const { status, body } = form ? await instance.call('POST', url, query, headers) : await instance.call('GET', `${url}?${query}`, undefined, headers); // prettier-ignore
    return { status, body: body as Answer };
  };
  const data = async (path: string, given: Iterable<[string, string]> | Record<string, string> = {}): Promise<unknown> => {
    const { status, body } = await call(path, given);
    expect([status, body.status], JSON.stringify(body)).to.deep.equal([200, 'success']);
    return body.data;
  };

  before(async () => {
    instance = await sharedInstance();
    [tenant, other] = [await newTenant(instance), await newTenant(instance)];
    const all = loadSeries();
    const bodies = all.map(
      ({ labels, timestamps, values }) =>
      bytesField(1, ...labels.pairs().map(([name, value]) => label(name, value)), ...Array.from(timestamps, (time, at) => sample(values.subarray(at, at + 1), time))), // prettier-ignore
    );
    for (let at = 0; at < bodies.length; at += PER_BODY) {
      const body = compress(Buffer.concat(bodies.slice(at, at + PER_BODY)));
      const headers = { Authorization: `Bearer ${tenant.key}`, 'Content-Type': 'application/x-protobuf' };
      expect((await instance.call('POST', `${instance.app}/api/v1/write`, body, headers)).status).to.equal(204);
    }
    const samples = all.reduce((sum, { timestamps }) => sum + timestamps.length, 0);
    const last = all.reduce((most, { timestamps }) => Math.max(most, timestamps.at(-1) ?? 0), 0);
    // every sample, markers of ended series too
    await until(
      'all samples',
      async () => {
        const given = { query: '{__name__=~".+"}[1d]', time: String(last / 1000), stats: 'all' };
        const { body } = await call('query', given);
        return (body.data as { stats?: { samples: { totalQueryableSamples: number } } } | undefined)?.stats?.samples.totalQueryableSamples;
      },
      (read) => read === samples,
    );
  });

  it('answers all cases as Prometheus does, with its errors', async () => {
    const faults: string[] = [];
    for (const test of loadCases()) {
      const given = Object.fromEntries(Object.entries(test.params).map(([name, value]) => [name, String(value)]));
      const { body } = await call(test.endpoint, given);
      const fault = difference(test, body) ?? (test.answer.error === body.error ? null : `${String(body.error)}, not ${String(test.answer.error)}`); // prettier-ignore
      if (fault !== null) faults.push(`${test.endpoint} ${test.params.query}\n    ${fault}`);
    }
    expect(faults, faults.join('\n')).to.deep.equal([]);
  });

  it('lists series, labels and their values, by GET and by a form, with limits', async () => {
    const names = (await data('label/__name__/values')) as string[];
    expect(names)
      .to.include('http_requests_total')
      .and.to.deep.equal([...names].sort());
    const selector: [string, string][] = [['match[]', 'http_requests_total{code=~"5.."}']];
    const series = (await data('series', selector)) as Record<string, string>[];
    expect(series).to.have.length.above(1);
    for (const one of series) expect(one).to.include({ __name__: 'http_requests_total' }).and.to.have.property('code').that.matches(/^5../);
    expect(await data('labels', selector)).to.deep.equal([...new Set(series.flatMap((one) => Object.keys(one)))].sort());
    expect(await data('label/code/values', selector)).to.deep.equal([...new Set(series.map(({ code }) => code))].sort());
    const both = (await data('series', [...selector, ['match[]', 'http_requests_total{code=~"4.."}']])) as unknown[];
    expect(both).to.have.length.above(series.length);
    const cut = (await call('series', [...selector, ['limit', '1']])).body;
    expect([(cut.data as unknown as unknown[]).length, cut.warnings]).to.deep.equal([1, ['results truncated due to limit']]);
    expect((await call('series', selector, tenant, true)).body.data).to.deep.equal(series);
    expect(await data('metadata')).to.be.an('object');
    expect(await data('status/buildinfo')).to.have.property('version');
    expect(await data('format_query', { query: 'sum(a)by(b)' })).to.equal('sum by (b) (a)');
    expect(await data('parse_query', { query: 'a' })).to.include({ type: 'vectorSelector' });
  });

  const BAD: readonly (readonly [path: string, given: Record<string, string>, status: number, type: string, error: RegExp])[] = [
    ['query', {}, 400, 'bad_data', /^invalid parameter "query"/],
    ['query', { query: 'a', time: 'x' }, 400, 'bad_data', /^invalid parameter "time": cannot parse "x" to a valid timestamp$/],
    ['query', { query: 'a', time: '1e300' }, 400, 'bad_data', /valid timestamp$/],
    ['query', { query: 'sum(' }, 400, 'bad_data', /parse error/],
    ['query_range', { query: 'a', start: '1', end: '2' }, 400, 'bad_data', /^invalid parameter "step"/],
    ['query_range', { query: 'a', start: '2', end: '1', step: '1' }, 400, 'bad_data', /before start/],
    ['query_range', { query: 'a', start: '1', end: '31536000', step: '1ms' }, 400, 'bad_data', /11,000 points/],
    ['query', { query: 'a', lookback_delta: '1x' }, 400, 'bad_data', /^invalid parameter "lookback_delta"/],
    ['query', { query: 'a', limit: '-1' }, 400, 'bad_data', /^invalid parameter "limit"/],
    ['query', { query: 'label_replace(up, "a b", "$1", "c", "(")' }, 422, 'execution', /./],
    ['series', {}, 400, 'bad_data', /^no match\[\] parameter provided$/],
    ['series', { 'match[]': "a{b=~\"(\"}" }, 400, 'bad_data', /./], // prettier-ignore
    ['series', { 'match[]': 'sum(a)' }, 400, 'bad_data', /./],
    ['parse_query', { query: '(' }, 400, 'bad_data', /parse error/],
    ['query_exemplars', {}, 400, 'bad_data', /^invalid parameter "query"/],
    ['query_exemplars', { query: 'sum(' }, 400, 'bad_data', /parse error/],
    ['query_exemplars', { query: 'a', start: '2', end: '1' }, 400, 'bad_data', /^end timestamp must not be before start timestamp$/],
    ['query_exemplars', { query: 'a', start: 'x' }, 400, 'bad_data', /^invalid parameter "start"/],
    ['nothing', {}, 404, '', /./],
  ];
  it('refuses what cannot be understood in the words of Prometheus', async () => {
    for (const [path, given, status, type, error] of BAD) {
      const answer = await call(path, given);
      expect([answer.status, status === 404 || answer.body.errorType === type], `${path} ${JSON.stringify(given)}: ${JSON.stringify(answer.body)}`).to.deep.equal([status, true]); // prettier-ignore
      if (status !== 404) expect(answer.body.error).to.match(error);
    }
  });

  it('takes hostile names and values as they are, and shows nothing of another tenant', async () => {
    for (const text of ["'", "\\'; DROP TABLE samples; --", '{p0:String}', '\u0000', '__proto__', '%', '`']) {
      const quoted = JSON.stringify(text).replaceAll('\\u0000', '\\x00');
      expect(await data('query', { query: `{__name__=${quoted}}` })).to.deep.include({ result: [] });
      expect(await data('query', { query: `http_requests_total{code!~${JSON.stringify(`\\Q${text}\\E`)}, ${quoted}=""}[1s]`.replaceAll('\\u0000', '\\x00') })).to.be.an('object'); // prettier-ignore
      expect(await data(`label/${encodeURIComponent(text === '\u0000' ? 'x' : text)}/values`)).to.deep.equal([]);
    }
    expect((await call('query', { query: 'http_requests_total' }, other)).status).to.equal(403);
    const own = `${instance.app}/api/v1/tenants/${String(other.id)}/prometheus/api/v1`;
    const shown = async (path: string): Promise<object> =>
      ((await instance.call('GET', `${own}/${path}`, undefined, { Authorization: `Bearer ${other.key}` })).body as Answer).data ?? {};
    for (const path of ['label/__name__/values', 'series?match[]={__name__=~".%2B"}', 'labels', 'query_exemplars?query=up'])
      expect(await shown(path), path).to.be.empty;
    expect(Object.keys(await shown('metadata'))).to.deep.equal([...DERIVED.keys()]);
  });
});
