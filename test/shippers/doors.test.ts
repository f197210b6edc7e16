import { expect } from 'chai';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { atEnd } from '../at-end.ts';
import { Authority, textOf } from '../e2e/certificates.ts';
import { until, type Instance } from '../e2e/instance.ts';
import { newTenant, sharedInstance, shareWith } from '../e2e/shared.ts';
import { freePorts } from '../free-ports.ts';
import { clearUp, layOut, node, python, rsyslog, syslogNg, type Running, type Workplace } from './programs.ts';
import { installToolset, NotHere } from './toolsets.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-door-shippers-'));
const authority = new Authority(path.join(folder, 'ca'));
const client = authority.issue('web-1');
/** Of the first tenant, whose keys are there before the instance is. */
const FIRST_KEY = 'e2e-key_0123456789';
const PORTS = ['tcp', 'udp', 'grpc', 'tls', 'tlsData', 'grpcTls'] as const;
const ports: Record<(typeof PORTS)[number], number> = { tcp: 0, udp: 0, grpc: 0, tls: 0, tlsData: 0, grpcTls: 0 };

shareWith(async () => {
  (await freePorts(PORTS.length)).forEach((port, index) => (ports[PORTS[index] as (typeof PORTS)[number]] = port));
  const own = authority.issue('localhost');
  const tls = { cert_file: own.cert, key_file: own.key };
  writeFileSync(path.join(folder, 'web.key'), `${FIRST_KEY}\n`);
  const fingerprint = new X509Certificate(textOf(client.cert)).fingerprint256;
  const doors = [
    { name: 'tcp', kind: 'syslog_tcp', port: ports.tcp, key_in_structured_data: true },
    { name: 'udp', kind: 'syslog_udp', port: ports.udp, key_in_structured_data: true },
    { name: 'otlp', kind: 'otlp_grpc', port: ports.grpc },
    {
      ...{ name: 'tls', kind: 'syslog_tcp', port: ports.tls, clients: [{ name: 'web-1', key_file: 'web.key' }] },
      tls: { ...tls, client_ca_file: authority.ca },
    },
    { name: 'tls-data', kind: 'syslog_tcp', port: ports.tlsData, tls, key_in_structured_data: true },
    { name: 'otlp-tls', kind: 'otlp_grpc', port: ports.grpcTls, tls, clients: [{ fingerprint, key_file: 'web.key' }] },
  ];
  const file = path.join(folder, 'doors.json');
  writeFileSync(file, JSON.stringify({ doors }));
  return { LOGWEIR_DOORS: file };
});
atEnd(() => rmSync(folder, { recursive: true, force: true }));

const TEXTS = ['order created for Zoë ☕', 'payment failed'];
const frames = (service: string) => (): string =>
  TEXTS.map((text) => `<30>1 ${new Date().toISOString()} web-1 ${service} 77 - - ${text}\n`).join('');
type Tenant = { readonly id: number; readonly key: string };

describe('shippers of syslog at the doors', function () {
  this.timeout(260_000);
  let instance: Instance;
  let place: Workplace | undefined;
  let running: Running | undefined;
  let tools = '';

  before(async function () {
    this.timeout(900_000);
    try {
      tools = (await installToolset('debian', (line) => console.log(`  ${line}`))).folder;
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      console.log(`  NOT RUN: rsyslog and syslog-ng at the doors: ${error.message}`);
      this.skip();
    }
    instance = await sharedInstance();
  });
  afterEach(async () => {
    await running?.stop();
    if (place !== undefined) clearUp(place);
  });

  /** Lays the example out with the ports of the doors, and the certificates. */
  const laidOut = (example: string, key: string): Workplace => {
    place = layOut(example, tools, { port: ports.tcp, key });
    const { folder: at } = place;
    const file = path.join(at, example.includes('rsyslog') ? '60-logweir.conf' : 'logweir.conf');
    const text = readFileSync(file, 'utf8').replaceAll('6515', String(ports.tlsData)).replaceAll('5514', String(ports.udp));
    const port = text.includes('/etc/logweir/') ? ports.tls : ports.tcp;
    writeFileSync(file, text.replaceAll('6514', String(port)).replaceAll('/etc/logweir/', `${at}/`));
    copyFileSync(authority.ca, path.join(at, 'ca.crt'));
    copyFileSync(client.cert, path.join(at, 'web-1.crt'));
    copyFileSync(client.key, path.join(at, 'web-1.key'));
    return place;
  };
  /** How often each message of a service is found, once there are `count` entries. */
  const found = async ({ id, key }: Tenant, service: string, count: number): Promise<Record<string, number>> => {
    const url = `${instance.app}/api/v1/tenants/${String(id)}/search?enrich=false`;
    const search = (): ReturnType<Instance['call']> =>
      instance.call('POST', url, { query: `service:="${service}"`, start: '-1h' }, { Authorization: `Bearer ${key}` });
    const logs = await until(
      `${String(count)} entries; ${running?.output() ?? ''}`,
      async () => ((await search()).body as { readonly logs?: Record<string, unknown>[] }).logs ?? [],
      ({ length }) => length >= count,
    );
    const counts: Record<string, number> = {};
    for (const { _msg } of logs) counts[String(_msg)] = (counts[String(_msg)] ?? 0) + 1;
    return counts;
  };
  const each = (times: number): Record<string, number> => Object.fromEntries(TEXTS.map((text) => [text, times]));

  it('rsyslog, omfwd: TCP with octet counting, with lines, and UDP', async () => {
    const tenant = await newTenant(instance);
    running = await rsyslog(frames('checkout'))(laidOut('doors/rsyslog-omfwd', tenant.key));
    expect(await found(tenant, 'checkout', 6)).to.deep.equal(each(3));
  });

  it('syslog-ng, syslog(): TCP with octet counting', async () => {
    const tenant = await newTenant(instance);
    running = await syslogNg(frames('checkout'))(laidOut('doors/syslog-ng-tcp', tenant.key));
    expect(await found(tenant, 'checkout', 2)).to.deep.equal(each(1));
  });

  for (const [what, example, service, run] of [
    ['rsyslog, omfwd with ossl and gtls', 'doors/rsyslog-omfwd-tls', 'checkout-rsyslog', rsyslog],
    ['syslog-ng, syslog() with tls()', 'doors/syslog-ng-tls', 'checkout-syslog-ng', syslogNg],
  ] as const)
    it(`${what}: TLS with the names of both sides, by the certificate and by a key in structured data`, async () => {
      const tenant = await newTenant(instance);
      running = await run(frames(service))(laidOut(example, tenant.key));
      expect(await found(tenant, service, 2), 'by the key').to.deep.equal(each(1));
      expect(await found({ id: 1, key: instance.key }, service, 2), 'by the certificate').to.deep.equal(each(1));
    });
});

describe('SDKs of OpenTelemetry at the door of gRPC', function () {
  this.timeout(900_000);
  let place: Workplace | undefined;
  afterEach(() => place !== undefined && clearUp(place));

  /** What of TLS the environment of a client says. */
  const trust = { OTEL_EXPORTER_OTLP_CERTIFICATE: authority.ca };
  const certified = { ...trust, OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: client.cert, OTEL_EXPORTER_OTLP_CLIENT_KEY: client.key };

  const [js, py] = ['doors/opentelemetry-js-grpc', 'doors/opentelemetry-python-grpc'];
  for (const [toolset, example, run, how] of [
    ['node', js, node('app.mjs'), 'plain'],
    ['node', js, node('app.mjs', undefined, certified), 'TLS, by a certificate'],
    ['python', py, python('app.py'), 'plain'],
    ['python', py, python('app.py', trust), 'TLS, by a key'],
  ] as const)
    it(`${example}, ${how}: logs, spans and metrics, each found once`, async function () {
      const tools = await installToolset(toolset, (line) => console.log(`  ${line}`)).catch((error: unknown) => error);
      if (tools instanceof NotHere) {
        console.log(`  NOT RUN: ${example}: ${tools.message}`);
        this.skip();
      }
      if (tools instanceof Error) throw tools;
      const instance = await sharedInstance();
      const isCertified = how === 'TLS, by a certificate';
      const { id, key } = isCertified ? { id: 1, key: instance.key } : await newTenant(instance);
      place = layOut(example, (tools as { folder: string }).folder, { port: ports.grpc, key: isCertified ? '' : key });
      if (how !== 'plain') place = { ...place, url: `https://localhost:${String(ports.grpcTls)}` };
      const sender = await run(place);
      await sender.ended;
      expect(sender.exitCode(), sender.output()).to.equal(0);
      const base = `${instance.app}/api/v1/tenants/${String(id)}`;
      const headers = { Authorization: `Bearer ${key}` };
      const asked =
        (method: string, path: string, body?: object): (() => Promise<string>) =>
        async () =>
          JSON.stringify((await instance.call(method, base + path, body, headers)).body);
      /** The answer, once it has this so often. */
      const has = async (what: RegExp, times: number, ask: () => Promise<string>): Promise<string> =>
        until(`${String(times)} of ${String(what)}; ${sender.output()}`, ask, (text) => [...text.matchAll(what)].length >= times);
      const search = { query: 'service:="checkout"', start: '-1h' };
      const logs = await has(/"_msg":"order created for Zoë ☕"/g, 1, asked('POST', '/search?enrich=false', search));
      expect(logs.match(/"_msg":"order created for Zoë ☕"/g)).to.have.length(1);
      expect(logs)
        .to.include('"service":"checkout"')
        .and.to.match(/"order\.items":"?3\b/)
        .and.to.match(/"trace_id":"[0-9a-f]{32}"/);
      const spans = await has(/"name":"POST \/orders"/g, 1, asked('POST', '/spans/search', { query: '*', start: '-1h' }));
      expect(spans.match(/"name":"POST \/orders"/g)).to.have.length(1);
      const query = `/prometheus/api/v1/query?query=${encodeURIComponent('orders_total{channel="web",job="checkout"}')}`;
      expect(await has(/"3"\]/g, 1, asked('GET', query))).to.include('"status":"success"');
    });
});
