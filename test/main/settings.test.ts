import { expect } from 'chai';
import path from 'node:path';
import { readSettings } from '../../main/settings.ts';

describe('settings', () => {
  it('have defaults', () => {
    const settings = readSettings({}, []);
    expect(settings).to.include({ appUrl: 'http://127.0.0.1:8080', ingestUrl: 'http://127.0.0.1:8081', dataDir: path.resolve('data') });
    expect(settings).to.include({ isKafkaEmbedded: true, isClickHouseEmbedded: true });
    expect(settings.roles).to.deep.equal(['ingest', 'app', 'sink', 'processors']);
    expect(settings.listeners.map(({ port }) => port)).to.deep.equal([8081, 8080, 8082]);
  });

  it('take empty variables as missing', () => {
    const env = { LOGWEIR_HOST: '', LOGWEIR_APP_PORT: '', LOGWEIR_DATA_DIR: '', LOGWEIR_KAFKA_BROKERS: '', LOGWEIR_CLICKHOUSE_URL: '' };
    expect(readSettings(env, [])).to.deep.equal(readSettings({}, []));
  });

  it('have the internal port in an instance without the app, where each is to have it', () => {
    const env = { LOGWEIR_ADMIN_LISTENER: 'instance' };
    expect(readSettings(env, ['--role', 'sink,processors'])).to.deep.include({ adminRole: 'sink' });
    expect(readSettings(env, ['--role', 'sink,processors']).listeners.map(({ port }) => port)).to.deep.equal([8082]);
    expect(readSettings(env, ['--role', 'ingest']).listeners.map(({ port }) => port)).to.deep.equal([8081, 8082]);
    expect(readSettings(env, []).adminRole).to.equal('app');
    expect(readSettings({}, ['--role', 'sink']).adminRole).to.equal(null);
  });

  it('name only the listeners of the chosen roles, in the order of the stop', () => {
    const settings = readSettings({}, ['--role', 'sink,ingest']);
    expect(settings.roles).to.deep.equal(['ingest', 'sink']);
    expect(settings.listeners.map(({ portVariable }) => portVariable)).to.deep.equal(['LOGWEIR_INGEST_PORT']);
  });

  it('take a role that there was, with a warning that tells who does its work', () => {
    const settings = readSettings({}, ['--role', 'sink,guard']);
    expect(settings.roles).to.deep.equal(['sink']);
    expect(settings.warnings).to.deep.equal([
      'There is no role guard any more: ingest (or app, where no ingest runs) watches the log itself. Remove it from --role',
    ]);
    expect(readSettings({}, ['--role', 'guard']).roles).to.deep.equal([]);
    expect(readSettings({}, ['--role', 'sink']).warnings).to.deep.equal([]);
  });

  it('say whether embedded engines write through', () => {
    expect(readSettings({}, []).survivesPowerLoss).to.equal(false);
    expect(readSettings({ LOGWEIR_DURABILITY: 'process' }, []).survivesPowerLoss).to.equal(false);
    expect(readSettings({ LOGWEIR_DURABILITY: 'power-loss', LOGWEIR_KAFKA_BROKERS: 'k:1' }, []).survivesPowerLoss).to.equal(true);
  });

  it('have backups in the data directory, in another folder, or on S3 where ClickHouse is embedded', () => {
    const at = (env: Record<string, string>): string => readSettings(env, []).backups.at;
    expect(at({ LOGWEIR_DATA_DIR: '/d' })).to.equal('/d/backups');
    expect(at({ LOGWEIR_BACKUP_DIR: '/mnt/b' })).to.equal('/mnt/b');
    const s3 = { LOGWEIR_BACKUP_DIR: 'https://s3/b/', LOGWEIR_BACKUP_S3_ACCESS_KEY: 'a', LOGWEIR_BACKUP_S3_SECRET_KEY: 's' };
    expect(readSettings(s3, []).backups).to.deep.equal({ at: 'https://s3/b/', accessKey: 'a', secretKey: 's' });
    expect(() => at({ ...s3, LOGWEIR_CLICKHOUSE_URL: 'http://c:8123' })).to.throw('LOGWEIR_BACKUP_DIR on S3 is of the embedded ClickHouse');
    for (const wrong of ['s3://b/x', 'https://user:secret@s3/b'])
      expect(() => at({ LOGWEIR_BACKUP_DIR: wrong }))
        .to.throw(/must be a folder, or the http or https URL of a prefix on S3/)
        .with.property('message')
        .that.does.not.include('secret');
  });

  it('say whether packages of the system may be installed', () => {
    const given = (text: string): boolean => readSettings({ LOGWEIR_INSTALL: text }, []).mayInstall;
    expect(['', '1', 'true', '0', 'false'].map(given)).to.deep.equal([true, true, true, false, false]);
  });

  it('have doors only where a file of them is named, and HTTPS where there is a certificate', () => {
    expect(readSettings({}, []).roles).to.deep.equal(['ingest', 'app', 'sink', 'processors']);
    expect(() => readSettings({}, ['--role=doors'])).to.throw('The role doors needs the file of LOGWEIR_DOORS, which is not set.');
    expect(() => readSettings({ LOGWEIR_DOORS: '/nowhere/doors.json' }, [])).to.throw(/cannot be read \(ENOENT\)/);
    const https = { LOGWEIR_TLS_CERT_FILE: 'a.crt', LOGWEIR_TLS_KEY_FILE: 'a.key' };
    expect(readSettings(https, []).ingestUrl).to.equal('https://127.0.0.1:8081');
    expect(() => readSettings({ LOGWEIR_TLS_CERT_FILE: 'a.crt' }, [])).to.throw(/must be given together/);
  });

  it('bracket an IPv6 host', () => expect(readSettings({ LOGWEIR_HOST: '::1' }, []).appUrl).to.equal('http://[::1]:8080'));

  const bad = (env: Record<string, string>, argv: string[], message: RegExp): void => {
    it(`refuse ${JSON.stringify(env)} ${argv.join(' ')}`, () => expect(() => readSettings(env, argv)).to.throw(message));
  };
  bad({ LOGWEIR_ADMIN_PORT: '70000' }, [], /The configuration is wrong: "LOGWEIR_ADMIN_PORT" must be a valid port/);
  bad({ LOGWEIR_INSTALL: 'perhaps' }, [], /The configuration is wrong: "LOGWEIR_INSTALL" must be a boolean/);
  bad({ LOGWEIR_INGEST_PORT: '1.5' }, [], /LOGWEIR_INGEST_PORT/);
  const real = { LOGWEIR_KAFKA_BROKERS: 'k:1', LOGWEIR_CLICKHOUSE_URL: 'http://c:1' };
  bad({ ...real, LOGWEIR_DURABILITY: 'power-loss' }, [], /LOGWEIR_DURABILITY=power-loss is for embedded engines/);
  bad({}, ['--role'], /There is no role ""/);
  bad({}, ['--role='], /There is no role ""/);
  bad({}, ['sink'], /The option sink is unknown/);
});
