import { expect } from 'chai';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import { createQueryRoutes } from '../../../api/search/routes.ts';
import { WINDOW } from '../../logsql/conformance.ts';
import { startHost } from '../../fakes/test-host.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { at, runtimeOver } from '../query-setup.ts';

const T = '/api/v1/tenants/1';

describe('hints of our own read endpoints', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    own = await LogsqlStore.start();
    await own.insert(1, [
      at(1, { service: 'shop', level: 'ERROR', status: '500' }),
      at(2, { service: 'shop', level: 'ERROR' }),
      at(3, { level: 'Info' }),
    ]);
    // what another tenant has is no name to suggest
    await own.insert(2, [at(1, { servce: 'x', level: 'error' })]);
    host = await startHost({ endpoints: createQueryRoutes(runtimeOver(own.store)).map((route) => appEndpoint(route)) });
  });
  after(async () => {
    await host.stop();
    await own.stop();
  });

  const hintsOf = async (path: string, body?: object): Promise<unknown> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify({ ...WINDOW, ...body }) };
    const answer = await fetch(host.url + path, { headers: { Authorization: 'Bearer all', 'Content-Type': 'application/json' }, ...init });
    expect(answer.status, path).to.equal(200);
    return ((await answer.json()) as { hints?: unknown }).hints;
  };

  const SEARCHES: readonly (readonly [query: string, hints: readonly string[] | undefined])[] = [
    ['servce:shop', ['No entry in this window has the field "servce"; did you mean "service"?']],
    ['statsu:500 level:ERROR', ['No entry in this window has the field "statsu"; did you mean "status"?']],
    ['nowhere:x', ['No entry in this window has the field "nowhere".']],
    ['level:error', ['No entry in this window has the level "error"; 2 have "ERROR". level:i(error) finds both.']],
    ['level:=info service:shop', ['No entry in this window has the level "info"; 1 have "Info". level:i(info) finds both.']],
    ['level:ERROR', undefined],
    ['service:other', undefined],
    ['!(servce:shop)', undefined],
    ['level:fatal', undefined],
  ];
  for (const [query, hints] of SEARCHES)
    it(`/search of ${query}`, async () => expect(await hintsOf(`${T}/search`, { query })).to.deep.equal(hints));

  it('says nothing of a window without entries', async () => {
    expect(await hintsOf(`${T}/search`, { query: 'servce:shop', start: '2020-01-01', end: '2020-01-02' })).to.equal(undefined);
  });

  it('name members and parameters that are not known, with the nearest known one, and are said beside results too', async () => {
    expect(await hintsOf(`${T}/search?enrch=true`, { query: '*', sart: '-1d', x: 1 })).to.deep.equal([
      'The member "sart" is not known here and was ignored; did you mean "start"?',
      'The member "x" is not known here and was ignored.',
      'The parameter "enrch" is not known here and was ignored; did you mean "enrich"?',
    ]);
    const window = `start=${WINDOW.start}&end=${WINDOW.end}`;
    expect(await hintsOf(`${T}/hits?query=*&${window}&field_by=level&api_key=k`)).to.deep.equal([
      'The parameter "field_by" is not known here and was ignored; did you mean "fields_by"?',
    ]);
    expect(await hintsOf(`${T}/facets?query=*&${window}&limt=3`)).to.deep.equal([
      'The parameter "limt" is not known here and was ignored; did you mean "limit"?',
    ]);
    expect(await hintsOf(`${T}/streams?qeury=*&${window}`)).to.deep.equal([
      'The parameter "qeury" is not known here and was ignored; did you mean "query"?',
    ]);
    expect(await hintsOf(`${T}/measures?nmae=x`)).to.deep.equal([
      'The parameter "nmae" is not known here and was ignored; did you mean "name"?',
    ]);
    expect(await hintsOf(`${T}/patterns?sicne=-1h`)).to.deep.equal([
      'The parameter "sicne" is not known here and was ignored; did you mean "since"?',
    ]);
    expect(await hintsOf(`${T}/patterns/diff?c=1`)).to.deep.equal([
      'The parameter "c" is not known here and was ignored; did you mean "a"?',
    ]);
    expect(await hintsOf(`${T}/hits?query=*&${window}`)).to.equal(undefined);
  });
});
