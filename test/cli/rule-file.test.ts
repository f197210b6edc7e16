import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { main } from '../../cli/main.ts';
import { readRuleFile } from '../../cli/rule-file.ts';

const FILE = `
groups:
  - name: node
    interval: 30s
    labels: {team: infra}
    rules:
      - alert: HighLoad
        expr: |
          node_load1 > 4
        for: 5m
        keep_firing_for: 10m
        labels: &labels
          severity: page
        annotations:
          summary: "Load of {{ $labels.instance }}"
      - record: job:load:max
        expr: max by (job) (node_load1)
  - name: http
    rules:
      - alert: Down
        expr: 1
        labels: *labels
`;

/** A service that has rules over metrics, and nothing else. */
class Service {
  rules: Record<string, unknown>[] = [];
  requests: string[] = [];
  /** Answers 429 so many times. */
  busy = 0;
  readonly server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const id = decodeURIComponent(/metric-rules\/(.+)$/.exec(request.url ?? '')?.[1] ?? '');
      const { method = '' } = request;
      if (method !== 'GET' && this.busy-- > 0) return response.writeHead(429, { 'Retry-After': '0' }).end('{"detail":"later"}');
      if (method !== 'GET') this.requests.push(`${method} ${id}`);
      if (method === 'POST') this.rules.push({ ...(JSON.parse(body) as object), id: `mr_${String(this.requests.length)}`, created_at: String(this.requests.length) }); // prettier-ignore
      if (method === 'PUT') this.rules = this.rules.map((rule) => (rule['id'] === id ? { ...(JSON.parse(body) as object), id } : rule));
      if (method === 'DELETE') this.rules = this.rules.filter((rule) => rule['id'] !== id);
      return response.writeHead(method === 'DELETE' ? 204 : 200).end(method === 'GET' ? JSON.stringify({ items: this.rules }) : method === 'DELETE' ? '' : '{}'); // prettier-ignore
    });
  });
}

describe('rule files of Prometheus', () => {
  it('are read with the interval of their groups, their labels and their anchors', () => {
    const [first, second, third, ...others] = readRuleFile(FILE, '2m');
    expect(others).to.deep.equal([]);
    expect(first).to.deep.equal({
      ...{ group: 'node', alert: 'HighLoad', expr: 'node_load1 > 4\n', interval: '30s', for: '5m', keep_firing_for: '10m' },
      ...{ labels: { team: 'infra', severity: 'page' }, annotations: { summary: 'Load of {{ $labels.instance }}' } },
    });
    expect(second).to.deep.equal({ group: 'node', record: 'job:load:max', expr: 'max by (job) (node_load1)', interval: '30s', labels: { team: 'infra' } }); // prettier-ignore
    expect(third).to.deep.equal({ group: 'http', alert: 'Down', expr: '1', interval: '2m', labels: { severity: 'page' } });
  });

  for (const [text, reason] of [
    ['groups: [', /not YAML/],
    ['- a', /A rule file is a mapping/],
    ['group: []', /unknown member "group"/],
    ['groups: {}', /groups is a list/],
    ['groups: [{rules: []}]', /groups\[0\] has no name/],
    ['groups: [{name: a}, {name: a}]', /groupname: "a" is repeated/],
    ['groups: [{name: a, rules: [{expr: up}]}]', /Rule 1 of the group a has either "alert" or "record"/],
    ['groups: [{name: a, rules: [{alert: x, expr: [up]}]}]', /Rule 1 of the group a: expr is a string/],
    ['groups: [{name: a, rules: [{alert: x, exp: up}]}]', /unknown member "exp"/],
    ['groups: [{name: a, rules: [{alert: x, expr: up, labels: [a]}]}]', /labels are a mapping of strings/],
    [`a: &a [1]\nb: &b [${'*a,'.repeat(20)}]\nc: &c [${'*b,'.repeat(20)}]\nd: [${'*c,'.repeat(20)}]`, /not YAML|Excessive alias/],
  ] as const)
    it(`are refused: ${text.slice(0, 50)}`, () => {
      expect(() => readRuleFile(text, '1m')).to.throw(reason);
    });
});

describe('logweir rules', () => {
  const service = new Service();
  const folder = mkdtempSync(path.join(tmpdir(), 'logweir-rules-'));
  before(async () => {
    service.server.listen(0, '127.0.0.1');
    await once(service.server, 'listening');
  });
  after(() => {
    service.server.close();
    rmSync(folder, { recursive: true });
  });

  async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
    let [out, err] = ['', ''];
    const env = { LOGWEIR_URL: `127.0.0.1:${String((service.server.address() as AddressInfo).port)}`, LOGWEIR_API_KEY: 'k' };
    const code = await main(['rules', ...argv], env, { out: (text) => void (out += text), err: (text) => void (err += text) });
    return { code, out, err };
  }
  async function imported(text: string, ...more: string[]): Promise<string> {
    const file = path.join(folder, 'rules.yml');
    writeFileSync(file, text);
    const { code, out, err } = await run('import', file, ...more);
    expect([code, err]).to.deep.equal([0, '']);
    return out.trim().split('\n').at(-1) ?? '';
  }

  it('imports a file, changes nothing when repeated, and makes its groups what it has', async () => {
    service.rules = [{ id: 'mr_0', group: 'own', alert: 'Mine', expr: 'up', interval: '1m' }];
    expect(await imported(FILE, '--dry-run')).to.equal('3 created, 0 changed, 0 deleted, 0 unchanged (dry run)');
    expect(service.requests).to.deep.equal([]);
    service.busy = 2;
    expect(await imported(FILE)).to.equal('3 created, 0 changed, 0 deleted, 0 unchanged');
    expect(service.rules.map(({ group, alert, record }) => [group, alert ?? record])).to.deep.equal([
      ['own', 'Mine'],
      ['node', 'HighLoad'],
      ['node', 'job:load:max'],
      ['http', 'Down'],
    ]);
    expect(await imported(FILE)).to.equal('0 created, 0 changed, 0 deleted, 3 unchanged');
    service.requests = [];
    const changed = FILE.replace('> 4', '> 5').replace(/ {6}- record[^]*?load1\)\n/, '');
    expect(await imported(changed)).to.equal('0 created, 1 changed, 1 deleted, 1 unchanged');
    expect(service.requests.map((request) => request.split(' ')[0])).to.deep.equal(['DELETE', 'PUT']);
    const { out } = await run('list');
    expect(out.trim().split('\n').map((line) => (JSON.parse(line) as { group: string }).group)).to.deep.equal(['own', 'node', 'http']); // prettier-ignore
  });

  it('says what is wrong with a command line and a file', async () => {
    for (const argv of [[], ['import'], ['import', 'a', 'b'], ['nosuch'], ['import', path.join(folder, 'none.yml')]])
      expect((await run(...argv)).code, argv.join(' ')).to.equal(2);
    expect((await run('--help')).out).to.match(/^Usage: logweir rules import FILE/);
  });
});
