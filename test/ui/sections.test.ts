import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { operationsOf, sectionIn, sectionsOf, withSection, type Description } from '../../web/ui/api/sections.ts';

const whole = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../docs/openapi.json'), 'utf8')) as Description;
type Small = { readonly info: object; readonly tags: readonly object[]; readonly paths: Description['paths'] };

describe('sections of the description', () => {
  it('have every operation once, with the parameters of its path', () => {
    const found = sectionsOf(whole).flatMap((section) => {
      const { paths } = withSection(whole, section) as Small;
      for (const [at, item] of Object.entries(paths)) expect(item['parameters'], at).to.deep.equal(whole.paths[at]?.['parameters']);
      return operationsOf({ ...whole, paths }).map(({ name }) => name);
    });
    const all = operationsOf(whole).map(({ name }) => name);
    expect(all.length).to.be.greaterThan(200);
    expect(found.sort()).to.deep.equal(all.sort());
  });

  it('are headed by their own words', () => {
    const { info, tags } = withSection(whole, 'alerts') as Small;
    expect(info).to.deep.include({ title: 'alerts', version: '1.0.0' });
    expect(tags).to.deep.equal([]);
  });

  it('are named by the address; another name is the first', () => {
    const [first] = sectionsOf(whole);
    expect(sectionIn(whole, '?section=alerts')).to.equal('alerts');
    for (const search of ['', '?section=', '?section=__proto__', '?section=<b>', '?x=1']) expect(sectionIn(whole, search)).to.equal(first);
  });

  it('an operation leads to its section and place', () => {
    const found = operationsOf(whole).find(({ name }) => name.startsWith('GET /api/v1/tenants/{tenant_id}/streams '));
    expect(found).to.deep.include({ section: 'logs', href: '?section=logs#operation/listStreams' });
  });
});
