import { expect } from 'chai';
import { latenciesOf, metricsOf } from '../../../../api/traces/jaeger/metrics.ts';
import { HttpError } from '../../../../pipeline/core/errors.ts';

const params = (query: string): URLSearchParams => new URLSearchParams(query);
const bad = (read: (query: URLSearchParams) => unknown, query: string, message: string): void => {
  expect(() => read(params(query)), query)
    .to.throw(HttpError, message)
    .with.property('status', 400);
};

describe("parameters of Jaeger's span metrics", () => {
  it('are read, with the defaults of Jaeger', () => {
    expect(metricsOf(params('service=a'))).to.deep.equal({
      ...{ services: ['a'], byOperation: false, kinds: [2], end: null, quantile: null },
      ...{ lookback: '3600000000000', step: '5000000000', per: '600000000000' },
    });
    const given =
      'service=a&service=b&groupByOperation=true&spanKind=client&spanKind=unspecified&endTs=1795003200000&lookback=60000&step=1000&ratePer=120000';
    expect(latenciesOf(params(`${given}&quantile=0.95`))).to.deep.equal({
      ...{ services: ['a', 'b'], byOperation: true, kinds: [3, 0], end: '1795003200000000000', quantile: 0.95 },
      ...{ lookback: '60000000000', step: '1000000000', per: '120000000000' },
    });
  });

  it("that are wrong are named in Jaeger's words", () => {
    bad(metricsOf, '', "unable to parse param 'service': please provide at least one service name");
    bad(
      metricsOf,
      'service=a&groupByOperation=foo',
      `unable to parse param 'groupByOperation': strconv.ParseBool: parsing "foo": invalid syntax`,
    );
    bad(metricsOf, 'service=a&spanKind=foo', "unable to parse param 'spanKind': unsupported span kind: 'foo'");
    bad(metricsOf, 'service=a&spanKind=', "unable to parse param 'spanKind': unsupported span kind: ''");
    for (const name of ['endTs', 'lookback', 'step', 'ratePer'])
      bad(metricsOf, `service=a&${name}=foo`, `unable to parse param '${name}': strconv.ParseInt: parsing "foo": invalid syntax`);
    for (const text of ['', 'foo', 'NaN', '0x1'])
      bad(
        latenciesOf,
        `service=a&quantile=${text}`,
        `unable to parse param 'quantile': strconv.ParseFloat: parsing "${text}": invalid syntax`,
      );
    for (const text of ['0', '-1', '1.5']) bad(latenciesOf, `service=a&quantile=${text}`, 'please provide a quantile between (0, 1]');
    for (const name of ['lookback', 'step', 'ratePer']) bad(metricsOf, `service=a&${name}=-5`, 'must be positive');
  });

  it('are bounded', () => {
    bad(metricsOf, 'service=a&lookback=11000000&step=1000', 'exceeded maximum resolution of 11000 points per timeseries');
    expect(metricsOf(params('service=a&lookback=10999000&step=1000')).step).to.equal('1000000000');
    bad(metricsOf, Array.from({ length: 101 }, (_none, index) => `service=${String(index)}`).join('&'), 'there are more than 100 services');
  });
});
