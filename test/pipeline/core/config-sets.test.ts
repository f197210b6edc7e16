import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../../pipeline/core/config.ts';

describe('the configuration of sets', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-sets-config-'));
  after(() => {
    rmSync(folder, { recursive: true });
  });
  const put = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return name;
  };
  const FIRST = { LOGWEIR_CLICKHOUSE_URL: 'http://one:8123', LOGWEIR_CLICKHOUSE_READER_USER: 'r' };
  const envOf = (content: unknown, more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
    ...FIRST,
    LOGWEIR_CLICKHOUSE_SETS_FILE: path.join(folder, put('sets.json', typeof content === 'string' ? content : JSON.stringify(content))),
    ...more,
  });
  const ALONE = { cluster: null, isWhole: false };
  const B = { name: 'b', url: 'http://two:8123', reader_user: 'r' };

  it('without a file has one set, that of the variables', () => {
    const { sets, clickhouse, sinks } = loadConfig(FIRST);
    expect(sets).to.deep.equal([{ name: 'a', clickhouse, ...ALONE, shards: [clickhouse] }]);
    expect(sinks.sets).to.deep.equal(['a']);
  });

  it('takes further sets from a file, and their secrets and certificates from files beside it', () => {
    put('owner', 'of the owner\n');
    put('ca.pem', '-----BEGIN ca-----');
    const c = { name: 'c2', url: 'https://three', ca_file: 'ca.pem', user: 'o', password_file: 'owner', database: 'd', whole: true };
    const { sets, sinks } = loadConfig(envOf({ sets: [{ ...B, reader_password: 'p' }, c] }));
    const first = { user: 'default', password: '', database: 'logweir', readerUser: 'r', readerPassword: '' };
    const third = {
      ...{ url: 'https://three', tls: { ca: '-----BEGIN ca-----' }, user: 'o', password: 'of the owner', database: 'd' },
      ...{ readerUser: 'o', readerPassword: 'of the owner' },
    };
    expect(sets.map(({ clickhouse }) => clickhouse)).to.deep.equal([
      { url: 'http://one:8123', ...first },
      { url: 'http://two:8123', ...first, readerPassword: 'p' },
      third,
    ]);
    expect(sets[2]).to.deep.equal({ name: 'c2', ...ALONE, isWhole: true, clickhouse: third, shards: [third] });
    expect(sinks.sets).to.deep.equal(['a', 'b', 'c2']);
  });

  it('leaves out sets that are out, and has sinks write some', () => {
    const all = { sets: [B, { ...B, name: 'c' }] };
    const names = (more: Readonly<Record<string, string>>): unknown => {
      const { sets, sinks } = loadConfig(envOf(all, more));
      return [sets.map(({ name }) => name), sinks.sets];
    };
    expect(names({ LOGWEIR_SINK_SETS: 'c, b' })).to.deep.equal([
      ['a', 'b', 'c'],
      ['b', 'c'],
    ]);
    expect(names({ LOGWEIR_CLICKHOUSE_SETS_OUT: 'a' })).to.deep.equal([
      ['b', 'c'],
      ['b', 'c'],
    ]);
    expect(names({ LOGWEIR_CLICKHOUSE_SETS_OUT: 'b', LOGWEIR_SINK_SETS: 'b' })).to.deep.equal([['a', 'c'], []]);
  });

  it('takes shards, which are alike but for their urls, and reads all through a database of the first', () => {
    const more = { cluster: 'logweir_b', shards: [{ url: 'http://three:8123' }, { url: 'http://four:8123' }] };
    const [, b] = loadConfig(envOf({ sets: [{ ...B, database: 'd', password: 'p', ...more }] })).sets;
    const own = { url: 'http://two:8123', user: 'default', password: 'p', database: 'd', readerUser: 'r', readerPassword: '' };
    expect(b).to.deep.equal({
      ...{ name: 'b', cluster: 'logweir_b', isWhole: false, clickhouse: { ...own, front: 'd_shards' } },
      shards: [own, { ...own, url: 'http://three:8123' }, { ...own, url: 'http://four:8123' }],
    });
  });

  it('takes the file of docs/sets.md', () => {
    const page = readFileSync(path.join(import.meta.dirname, '../../../docs/sets.md'), 'utf8');
    for (const [name, text] of [['ca.pem', '-----BEGIN ca-----'], ['owner', 'of the owner'], ['reader', 'of the reader']] as const) put(name, text); // prettier-ignore
    const [, second] = loadConfig(envOf(/```json\n([^]*?)```/.exec(page)?.[1] ?? '')).sets;
    expect(second?.clickhouse).to.include({ url: 'https://clickhouse-b:8443', password: 'of the owner', readerPassword: 'of the reader' });
  });

  const bad = (what: string, content: unknown, message: RegExp, more: Readonly<Record<string, string>> = {}): void => {
    it(`refuses ${what}`, () =>
      expect(() => loadConfig(envOf(content, more)))
        .to.throw(message)
        .with.property('message')
        .that.does.not.contain('never-told'));
  };
  bad('what is not JSON', '{"password": "never-told", ', /LOGWEIR_CLICKHOUSE_SETS_FILE, \S+sets\.json: it is not valid JSON/);
  bad('what is not a list', '[]', /must be of type object/);
  bad('another member', { sets: [{ ...B, host: 'x' }] }, /"sets\[0\]\.host" is not allowed/);
  bad('a set without a name', { sets: [{ url: 'http://x' }] }, /"sets\[0\]\.name" is required/);
  bad('a set without a url', { sets: [{ name: 'b' }] }, /"sets\[0\]\.url" is required/);
  bad('the name of the first', { sets: [{ ...B, name: 'a' }] }, /must not be "a", which is the set of LOGWEIR_CLICKHOUSE_URL/);
  bad('a name twice', { sets: [B, B] }, /duplicate/);
  for (const name of ['B', 'b-1', '', 'x'.repeat(17), '../b', 7, null])
    bad(`the name ${JSON.stringify(name)}`, { sets: [{ ...B, name }] }, /sets\[0\]\.name/);
  bad('a database that is SQL', { sets: [{ ...B, database: 'a; DROP' }] }, /sets\[0\]\.database/);
  bad('more than eight sets', { sets: Array.from({ length: 8 }, (_none, at) => ({ ...B, name: `s${String(at)}` })) }, /at most|less than or equal to 7/); // prettier-ignore
  bad('a password twice', { sets: [{ ...B, password: 'never-told', password_file: 'owner' }] }, /conflict/);
  bad('a password of a reader that is not there', { sets: [{ ...B, reader_user: undefined, reader_password: 'never-told' }] }, /missing required peer "reader_user"/); // prettier-ignore
  const SHARDED = { ...B, cluster: 'c', shards: [{ url: 'http://three' }] };
  bad('shards without a cluster', { sets: [{ ...SHARDED, cluster: undefined }] }, /required peers/);
  bad('a cluster without shards', { sets: [{ ...SHARDED, shards: undefined }] }, /required peers/);
  bad('no further shard', { sets: [{ ...SHARDED, shards: [] }] }, /sets\[0\]\.shards/);
  bad('a cluster that is SQL', { sets: [{ ...SHARDED, cluster: "c', '" }] }, /sets\[0\]\.cluster/);
  bad('a shard with a password of its own', { sets: [{ ...SHARDED, shards: [{ url: 'http://x', password: 'never-told' }] }] }, /password" is not allowed/); // prettier-ignore
  bad('a shard twice', { sets: [{ ...SHARDED, shards: [{ url: 'http://x' }, { url: 'http://x' }] }] }, /duplicate/);
  bad('the first shard twice', { sets: [{ ...SHARDED, shards: [{ url: B.url }] }] }, /the set b has the url http:\/\/two:8123 twice/);
  bad('shards with and without TLS', { sets: [{ ...SHARDED, shards: [{ url: 'https://x' }] }] }, /with http:\/\/ and with https:\/\//);
  bad('seventeen shards', { sets: [{ ...SHARDED, shards: Array.from({ length: 16 }, (_none, at) => ({ url: `http://s${String(at)}` })) }] }, /less than or equal to 15/); // prettier-ignore
  bad('a file that is not there', { sets: [{ ...B, password_file: 'none' }] }, /none cannot be read \(ENOENT\)/);
  bad('a certificate of an http url', { sets: [{ ...B, ca_file: 'ca.pem' }] }, /the set b has files of TLS/);
  bad('a certificate that is not in PEM', { sets: [{ ...B, url: 'https://x', ca_file: 'owner' }] }, /owner is not in PEM/);
  bad('a set to be out that is not there', { sets: [B] }, /LOGWEIR_CLICKHOUSE_SETS_OUT: there is no set "x"; there is a, b/, { LOGWEIR_CLICKHOUSE_SETS_OUT: 'x' }); // prettier-ignore
  bad('a set to be written that is not there', { sets: [B] }, /LOGWEIR_SINK_SETS: there is no set "x"/, { LOGWEIR_SINK_SETS: 'x' });
  bad('every set to be out', { sets: [B] }, /one must be left/, { LOGWEIR_CLICKHOUSE_SETS_OUT: 'a,b' });
});
