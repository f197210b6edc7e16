import { storageXml } from '../../compose/embedded/storage.ts';
import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { readDoors } from '../../api/doors/doors-file.ts';
import { variables } from '../../docs/generate.ts';
import { ROLES } from '../../main/role-process.ts';

const folder = path.resolve(import.meta.dirname, '../../compose');
const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
const CHART = 'helm/logweir';
const templates = readdirSync(path.join(folder, CHART, 'templates')).map((file) => `${CHART}/templates/${file}`);
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1] ?? '');

/** Names that only these files know: passwords as the server's environment has them, the image, and where ports are published. */
const OWN = new Set(['LOGWEIR_OWNER_PASSWORD', 'LOGWEIR_READER_PASSWORD', 'LOGWEIR_IMAGE', 'LOGWEIR_PUBLISH']);
const SETTINGS = new Set(variables().map(({ name }) => name));

type Service = { command?: string[]; ports?: string[]; environment?: Record<string, string>; read_only?: boolean; cap_drop?: string[] };
const services = (file: string): Record<string, Service> =>
  (parse(read(file), { merge: true }) as { services: Record<string, Service> }).services;

describe('files to run it with', () => {
  const files = [
    'docker-compose.yml',
    'docker-compose.cluster.yml',
    'docker-compose.doors.yml',
    'docker-compose.tiers.yml',
    '.env.example',
    'clickhouse/users.xml',
    'systemd/logweir.service',
    'systemd/logweir@.service',
  ];
  for (const file of [...files, '../Dockerfile', `${CHART}/values.yaml`, ...templates])
    it(`${file}: each setting is one of the service`, () => {
      const text = read(file);
      const names = matches(text, /\b(LOGWEIR_[A-Z_]*[A-Z])\b/g);
      expect(names.filter((name) => !SETTINGS.has(name) && !OWN.has(name))).to.deep.equal([]);
      // the chart puts some together
      const loops = matches(text, /range list ((?:"[A-Z_]+" ?)+)/g).flatMap((list) => matches(list, /"([A-Z_]+)"/g));
      const secrets = loops.filter((name) => /KEY|TOKEN|PASSWORD/.test(name));
      expect(secrets.filter((name) => !SETTINGS.has(`LOGWEIR_${name}_FILE`))).to.deep.equal([]);
    });

  for (const file of ['docker-compose.yml', 'docker-compose.cluster.yml'])
    it(`${file}: read-only roots without capabilities, public ports on loopback unless told otherwise, the internal one always`, () => {
      const ours = Object.entries(services(file)).filter(([name]) => !/^(?:kafka|clickhouse)/.test(name));
      expect(ours).to.not.deep.equal([]);
      for (const [name, service] of ours) {
        expect(service.read_only, name).to.equal(true);
        expect(service.cap_drop, name).to.deep.equal(['ALL']);
        for (const port of service.ports ?? [])
          expect(port, name).to.match(
            /^(?:\$\{LOGWEIR_PUBLISH:-127\.0\.0\.1\}:(8080:8080|8081:8081|6514:6514|4317:4317)|127\.0\.0\.1:8082:8082)$/,
          );
      }
      for (const [name, { ports = [] }] of Object.entries(services(file)).filter(([one]) => /^(?:kafka|clickhouse)/.test(one)))
        expect(ports, `${name} is for the containers alone`).to.deep.equal([]);
    });

  it('the cluster and the chart run each role once', () => {
    const roles = ROLES.map(({ name }) => name).sort();
    const commands = Object.values(services('docker-compose.cluster.yml')).flatMap(({ command }) =>
      command === undefined ? [] : [command[1]],
    );
    expect(commands.sort()).to.deep.equal(roles);
    const { roles: own, doors } = parse(read(`${CHART}/values.yaml`)) as { roles: object; doors: { enabled: boolean } };
    // doors are off until there is a file of them (docs/doors.md)
    expect([...Object.keys(own), 'doors'].sort()).to.deep.equal(roles);
    expect(doors.enabled).to.equal(false);
    expect((services('docker-compose.cluster.yml')['doors'] as { profiles?: string[] }).profiles).to.deep.equal(['doors']);
  });

  it('the doors that come with the files are ones that the service takes, on the ports that are published', () => {
    const doors = readDoors(path.join(folder, 'doors/doors.json'));
    const ports = doors.flatMap((door) => (door.kind === 'kafka' ? [] : [`${String(door.port)}:${String(door.port)}`]));
    for (const file of ['docker-compose.cluster.yml', 'docker-compose.doors.yml'])
      for (const port of ports) expect(read(file), file).to.include(`:${port}'`);
  });

  it('the image is built with what the settings of its pages extend', () => {
    const sent = read('../.dockerignore').split('\n');
    for (const pages of ['ui', 'replay-recorder']) {
      const [extended = ''] = matches(read(`../web/${pages}/tsconfig.json`), /"extends": "([^"]+)"/g);
      expect(sent).to.include(`!${path.relative(path.join(folder, '..'), path.resolve(folder, '../web', pages, extended))}`);
    }
  });

  it('the policy for old rows is that of the embedded ClickHouse', () => {
    const xml = storageXml({ cold: { at: 'http://s3/logs/', accessKey: 'a', secretKey: 's' }, backups: null }, (text) => text);
    const settings = (text: string): string[] =>
      matches(text, /(<\w+>[\w.-]+<\/\w+>)/g)
        .filter((one) => !/_key/.test(one))
        .sort();
    expect(settings(read('clickhouse/tiers.xml')))
      .to.deep.equal(settings(xml))
      .and.to.have.length.above(10);
    expect(matches(xml, /<volumes>\s*<(\w+)>/g)).to.deep.equal(['default']);
  });

  it('ports are those of docs/config.md', () => {
    const preset = (name: string): string =>
      variables()
        .find((one) => one.name === name)
        ?.preset.replaceAll('`', '') ?? '';
    const ports = ['LOGWEIR_APP_PORT', 'LOGWEIR_INGEST_PORT', 'LOGWEIR_ADMIN_PORT'].map(preset);
    expect(/^EXPOSE (.+)$/m.exec(read('../Dockerfile'))?.[1]?.split(' ')).to.deep.equal(ports);
    const own = matches(read(`${CHART}/templates/roles.yaml`), /containerPort: (\d+)/g);
    expect(own).to.deep.equal(ports);
  });

  it('the users of ClickHouse see through the row policies of the embedded one', () => {
    const filters = (text: string): string[] => text.match(/<\w+><filter>[^<]+<\/filter><\/\w+>/g)?.sort() ?? [];
    expect(filters(read('clickhouse/users.xml')))
      .to.deep.equal(filters(read('embedded/users.xml')))
      .and.to.have.length.above(10);
    const limits = (text: string): string[] => matches(text, /<(\w+)><const\/>/g);
    expect(limits(read('clickhouse/users.xml'))).to.deep.equal(limits(read('embedded/users.xml')));
  });

  for (const file of ['users.xml', 'config.xml'])
    it(`the chart has the same ${file} for ClickHouse`, () => expect(read(`${CHART}/files/${file}`)).to.equal(read(`clickhouse/${file}`)));

  it('the schema of the chart knows each of its values', () => {
    type Schema = { properties?: Record<string, Schema>; $ref?: string; definitions?: Record<string, Schema> };
    const schema = JSON.parse(read(`${CHART}/values.schema.json`)) as Schema;
    const unknown: string[] = [];
    const look = (value: unknown, at: Schema, where: string): void => {
      const rules = at.$ref === undefined ? at : (schema.definitions?.[at.$ref.split('/').at(-1) ?? ''] ?? {});
      if (rules.properties === undefined || typeof value !== 'object' || value === null) return;
      for (const [name, part] of Object.entries(value)) {
        const own = rules.properties[name];
        if (own === undefined) unknown.push(`${where}.${name}`);
        else look(part, own, `${where}.${name}`);
      }
    };
    look(parse(read(`${CHART}/values.yaml`)), schema, 'values');
    expect(unknown).to.deep.equal([]);
  });
});
