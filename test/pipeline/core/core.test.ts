import { expect } from 'chai';
import fc from 'fast-check';
import { loadConfig } from '../../../pipeline/core/config.ts';
import { Literal, renderEntry } from '../../../pipeline/core/entry.ts';
import { parseEntry } from '../../../pipeline/core/json-entry.ts';
import { parseStream, renderStream } from '../../../pipeline/core/labels.ts';
import { registry } from '../../../pipeline/core/registry.ts';
import { startAll, stopAll, type Service } from '../../../pipeline/core/service.ts';
import { join, renderSql, sql, text, uint32 } from '../../../pipeline/core/sql.ts';

describe('labels', () => {
  it('are sorted, escaped, and without empty ones', () => {
    expect(
      renderStream([
        ['host', 'h"1'],
        ['app', 'web'],
        ['none', ''],
        ['a b', 'c'],
      ]),
    ).to.equal('{"a b"="c",app="web",host="h\\"1"}');
    expect(renderStream([])).to.equal('{}');
  });
  it('are read as they were written', () => {
    const label = fc.tuple(fc.string({ minLength: 1, unit: 'binary' }), fc.string({ minLength: 1, unit: 'binary' }));
    fc.assert(
      fc.property(fc.uniqueArray(label, { selector: ([name]) => name }), (labels) => {
        expect(Object.fromEntries(parseStream(renderStream(labels)))).to.deep.equal(Object.fromEntries(labels));
      }),
    );
  });
  for (const bad of ['', '{', 'app="x"', '{app=x}', '{app="x" host="y"}', '{app="x"'])
    it(`refuses ${bad}`, () => expect(() => parseStream(bad)).to.throw());
});

describe('entries as JSON', () => {
  it('keep every digit and leave out what is empty', () => {
    const json = renderEntry(
      new Map<string, string | Literal>([
        ['_msg', 'a"b'],
        ['n', new Literal('18446744073709551615')],
        ['empty', ''],
      ]),
    );
    expect(json).to.equal('{"_msg":"a\\"b","n":18446744073709551615}');
    expect(renderEntry(parseEntry(json))).to.equal(json);
  });
});

describe('sql', () => {
  it('binds every value and joins pieces', () => {
    const condition = join([sql`a = ${text("x' OR 1=1 --")}`, sql`b > ${uint32(5)}`], sql` AND `);
    const { text: statement, params } = renderSql(sql`SELECT 1 WHERE ${condition} LIMIT ${uint32(7)}`);
    expect(statement).to.equal('SELECT 1 WHERE a = {p0:String} AND b > {p1:UInt32} LIMIT {p2:UInt32}');
    expect([...params.values()].map(({ value }) => value)).to.deep.equal(["x' OR 1=1 --", 5, 7]);
  });
});

describe('registry', () => {
  it('finds by every name, and refuses a name twice', () => {
    const names = registry((member: { names: string[] }) => member.names, [{ names: ['a', 'b'] }, { names: ['c'] }]);
    expect(names.find('b')).to.equal(names.members[0]);
    expect(names.find('x')).to.equal(undefined);
    expect(() => registry((member: string) => [member], ['a', 'a'])).to.throw(/BUG/);
  });
});

describe('services', () => {
  const log: string[] = [];
  const service = (name: string, fails = false): Service => ({
    name,
    start: () => (fails ? Promise.reject(new Error('no')) : Promise.resolve(void log.push(`start ${name}`))),
    stop: () => Promise.resolve(void log.push(`stop ${name}`)),
  });
  beforeEach(() => void log.splice(0));
  it('stop in reverse order', async () => {
    await startAll([service('a'), service('b')]);
    await stopAll([service('a'), service('b')]);
    expect(log).to.deep.equal(['start a', 'start b', 'stop b', 'stop a']);
  });
  it('that started are stopped when a later one fails', async () => {
    const error = await startAll([service('a'), service('b', true), service('c')]).then(
      () => null,
      (reason: unknown) => reason as Error,
    );
    expect(error?.message).to.equal('b did not start.');
    expect(log).to.deep.equal(['start a', 'stop a']);
  });
});

describe('configuration', () => {
  it('has the documented defaults', () => {
    const config = loadConfig({ PATH: '/bin', LOGWEIR_SHARED: 'x', LOGWEIR_API_KEY: 'k' });
    expect(config.http).to.deep.include({ host: '127.0.0.1', appPort: 8080, ingestPort: 8081, adminPort: 8082, maxBodyBytes: 2_097_152 });
    expect(config.limits.platformEntriesPerSecond).to.equal(50_000);
    expect(Object.isFrozen(config.http)).to.equal(true);
  });
  it('names all faults at once, unknown names among them', () => {
    expect(() => loadConfig({ LOGWEIR_APP_PORT: 'many', LOGWEIR_COLOUR: 'red', LOGWEIR_BOOTSTRAP_KEY: 'a b' })).to.throw(
      /LOGWEIR_APP_PORT.*LOGWEIR_BOOTSTRAP_KEY.*LOGWEIR_COLOUR|LOGWEIR_APP_PORT[^]*LOGWEIR_COLOUR/,
    );
  });
  for (const name of ['LOGWEIR_BOOTSTRAP_KEY', 'LOGWEIR_ADMIN_TOKEN', 'LOGWEIR_KEY_PEPPER'])
    it(`${name} has 16 characters or more, and is not in the message`, () => {
      expect(() => loadConfig({ [name]: 'sixteen_or_more_' })).not.to.throw();
      expect(() => loadConfig({ [name]: 'not_so_many_ch' })).to.throw(new RegExp(`^(?!.*not_so_many).*${name}.*16 characters`));
    });
});
