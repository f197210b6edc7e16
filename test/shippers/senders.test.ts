import { expect } from 'chai';
import { until, type Instance } from '../e2e/instance.ts';
import { newTenant, sharedInstance } from '../e2e/shared.ts';
import { clearUp, layOut, type Running } from './programs.ts';
import { checkRequests } from './requests.ts';
import { SENDERS, type FoundSeries, type Sender } from './senders.ts';
import { NotHere, installToolset, type Toolset, type ToolsetName } from './toolsets.ts';
import { startWire, type Wire } from './wire.ts';

type Tenant = { readonly id: number; readonly key: string };
type Series = { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] };

const MOST_SECONDS = 240;
const INSTALL_SECONDS = 1800;
const BUSY = 503;

describe('senders: what real clients of metrics send is read back', function () {
  this.timeout((MOST_SECONDS + 20) * 1000);
  const toolsets = new Map<ToolsetName, Toolset | NotHere>();
  let instance: Instance;

  before(async function () {
    this.timeout(INSTALL_SECONDS * 1000);
    const tell = (line: string): void => console.log(`  ${line}`);
    for (const name of new Set(SENDERS.map(({ toolset }) => toolset))) {
      const made = await installToolset(name, tell).catch((error: unknown) => {
        if (error instanceof NotHere && name !== 'node') return error;
        throw error;
      });
      toolsets.set(name, made);
      const names = SENDERS.filter(({ toolset }) => toolset === name).map((sender) => sender.name);
      if (made instanceof NotHere) tell(`NOT RUN: ${names.join('; ')}: ${made.message}`);
    }
    instance = await sharedInstance();
  });

  for (const sender of SENDERS)
    it(sender.name, async function () {
      const toolset = toolsets.get(sender.toolset);
      if (toolset === undefined || toolset instanceof NotHere) return this.skip();
      const tenant = await newTenant(instance);
      const wire = await startWire(instance.ingest, { refuseFirst: sender.resends, status: BUSY });
      const place = layOut(sender.example, toolset.folder, { port: wire.port, key: tenant.key }, sender.edit);
      let running: Running | undefined;
      try {
        running = await sender.start(place);
        for (const one of sender.found) check(one, await arrival(one, sender, running, wire, () => read(instance, tenant, one.query)));
        await running.stop();
        checkRequests(sender, wire.passed, BUSY);
      } finally {
        await running?.stop();
        await wire.close();
        clearUp(place);
      }
    });
});

function check({ labels, value }: FoundSeries, { metric, value: [, text] }: Series): void {
  expect(metric).to.include(labels ?? {});
  if (value !== undefined) expect(Number(text)).to.be.closeTo(value, 1e-9);
}

async function read(instance: Instance, { id, key }: Tenant, query: string): Promise<readonly Series[]> {
  const url = `${instance.app}/api/v1/tenants/${String(id)}/prometheus/api/v1/query?${new URLSearchParams({ query }).toString()}`;
  const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
  if (response.status !== 200) throw new Error(`${query} answered ${String(response.status)}: ${await response.text()}`);
  return ((await response.json()) as { readonly data: { readonly result: readonly Series[] } }).data.result;
}

/** Waits until a query finds its one series; says what the client printed and what it was answered where it does not. */
async function arrival(
  { query }: FoundSeries,
  sender: Sender,
  running: Running,
  wire: Wire,
  ask: () => Promise<readonly Series[]>,
): Promise<Series> {
  const hasFailed = (): boolean => (running.exitCode() ?? 0) !== 0;
  const last = await until(query, ask, (series) => series.length > 0 || hasFailed(), MOST_SECONDS * 1000).catch(
    (error: unknown) => error as Error,
  );
  if (!(last instanceof Error) && last.length === 1) return last[0] as Series;
  const requests = wire.passed
    .map(({ method, path, contentType, status }) => `${method} ${path} ${contentType} ${String(status)}`)
    .join(', ');
  const found = last instanceof Error ? last.message : JSON.stringify(last);
  throw new Error(`${sender.name}, ${query}: exit ${String(running.exitCode())}; requests: ${requests}\n${running.output()}\n${found}`);
}
