import { expect } from 'chai';
import { RouteTable } from '../../../api/http/route-table.ts';

const PATHS = [
  '/health',
  '/a/{tenant_id}/alerts',
  '/a/{tenant_id}/alerts/{id}',
  '/a/{tenant_id}/alerts/all',
  '/select/logsql/query',
  '/:index/_bulk',
  '/_nodes/*',
  '/v2.1/x+y',
];
const table = new RouteTable<string>();
for (const path of PATHS) table.add(['GET', 'PUT'], path, path);

describe('the table of routes', () => {
  for (const [path, template, params] of [
    ['/health', '/health', {}],
    ['/health/', null],
    ['/Health', null],
    ['health', null],
    ['', null],
    ['/a/1/alerts', '/a/{tenant_id}/alerts', { tenant_id: '1' }],
    ['/a/1/alerts/', null],
    ['/a//alerts', null],
    ['/A/1/alerts', null],
    ['/a/1/alerts/7', '/a/{tenant_id}/alerts/{id}', { tenant_id: '1', id: '7' }],
    // the first that was added
    ['/a/1/alerts/all', '/a/{tenant_id}/alerts/{id}', { tenant_id: '1', id: 'all' }],
    ['/a/x%2Fy%20z/alerts', '/a/{tenant_id}/alerts', { tenant_id: 'x/y z' }],
    ['/a/%C3%BC/alerts', '/a/{tenant_id}/alerts', { tenant_id: 'ü' }],
    // escapes that are none
    ['/a/%/alerts', null],
    ['/a/%ff/alerts', null],
    ['/a/%zz/alerts/1', null],
    ['/a/../health', null],
    ['/__proto__/_bulk', '/{index}/_bulk', { index: '__proto__' }],
    ['/a\nb/_bulk', '/{index}/_bulk', { index: 'a\nb' }],
    ['/a/b/_bulk', null],
    ['/_nodes/', '/_nodes/*', {}],
    ['/_nodes/a/b//c', '/_nodes/*', { rest: 'a/b//c' }],
    ['/_nodes', null],
    ['/v2.1/x+y', '/v2.1/x+y', {}],
    ['/v2x1/x+y', null],
  ] as const)
    it(`finds ${template ?? 'nothing'} for ${JSON.stringify(path)}`, () => {
      const found = table.find(path);
      expect(found?.template ?? null).to.equal(template);
      if (found === null) return;
      expect({ ...found.params }).to.deep.equal(params);
      expect([...found.members.keys()]).to.deep.equal(['GET', 'PUT']);
    });

  it('takes a method of a path once', () => {
    for (const path of ['/health', '/a/{tenant_id}/alerts', '/a/:tenant_id/alerts'])
      expect(() => table.add(['DELETE', 'GET'], path, 'x'), path).to.throw('is routed twice');
  });

  it('takes no long time for long paths', () => {
    const began = process.cpuUsage().user;
    for (const path of [`/a${'/a'.repeat(50_000)}`, `/_nodes${'/'.repeat(100_000)}`, `/${'%2F'.repeat(50_000)}/_bulk`]) table.find(path);
    expect(process.cpuUsage().user - began).to.be.below(1_000_000);
  });
});
