import { expect } from 'chai';
import { until, type Instance } from '../e2e/instance.ts';
import { newTenant, sharedInstance } from '../e2e/shared.ts';
import { clearUp, layOut, type Running } from './programs.ts';
import { checkRequests } from './requests.ts';
import { sentSpans, wholeSpans, type ResourceSpans, type WholeSpan } from './spans.ts';
import { statedOf, type StatedSpan } from './stated-spans.ts';
import { NotHere, installToolset, type Toolset, type ToolsetName } from './toolsets.ts';
import { TRACERS, type Tracer } from './tracers.ts';
import { startWire, type Wire } from './wire.ts';

type Tenant = { readonly id: number; readonly key: string };

const MOST_SECONDS = 240;
const INSTALL_SECONDS = 1800;

describe('tracers: what real clients of traces send is read back, span for span', function () {
  this.timeout((MOST_SECONDS + 20) * 1000);
  const toolsets = new Map<ToolsetName, Toolset | NotHere>();
  const table: string[] = [];
  let instance: Instance;

  before(async function () {
    this.timeout(INSTALL_SECONDS * 1000);
    const tell = (line: string): void => console.log(`  ${line}`);
    for (const name of new Set(TRACERS.map(({ toolset }) => toolset))) {
      const made = await installToolset(name, tell).catch((error: unknown) => {
        if (error instanceof NotHere && name !== 'node') return error;
        throw error;
      });
      toolsets.set(name, made);
      const names = TRACERS.filter(({ toolset }) => toolset === name).map((tracer) => tracer.name);
      if (made instanceof NotHere) tell(`NOT RUN: ${names.join('; ')}: ${made.message}`);
    }
    instance = await sharedInstance();
  });

  after(() => {
    console.log(
      [
        '  | Client | Sent | Read back | Equal in all members | Equal to its own statement |',
        '  | --- | --- | --- | --- | --- |',
        ...table,
      ].join('\n'),
    );
  });

  for (const tracer of TRACERS)
    it(tracer.name, async function () {
      const toolset = toolsets.get(tracer.toolset);
      if (toolset === undefined || toolset instanceof NotHere) return this.skip();
      const tenant = await newTenant(instance);
      const wire = await startWire(instance.ingest, { refuseFirst: tracer.resends });
      const place = layOut(`traces/${tracer.example}`, toolset.folder, { port: wire.port, key: tenant.key }, tracer.edit);
      let running: Running | undefined;
      try {
        running = await tracer.start(place);
        const read = await arrival(tracer, running, wire, () => readBack(instance, tenant));
        await running.stop();
        checkRequests(tracer, wire.passed);
        const taken = wire.passed.filter(({ status }) => status < 300);
        const isOtlp = taken.every(({ path }) => path === '/v1/traces');
        const sent = isOtlp ? taken.flatMap(sentSpans).sort((a, b) => (a.traceId + a.spanId < b.traceId + b.spanId ? -1 : 1)) : [];
        if (isOtlp) expect(read).to.deep.equal(sent);
        const stated = tracer.statement?.(running.output()) ?? [];
        if (tracer.statement !== null) compare(stated, statedOf(read));
        const words = [
          isOtlp ? `${String(sent.length)} of ${String(sent.length)}` : '–',
          tracer.statement === null ? '–' : `${String(stated.length)} of ${String(stated.length)}`,
        ];
        table.push(`  | ${tracer.name} | ${String(tracer.spans)} | ${String(read.length)} | ${words.join(' | ')} |`);
      } finally {
        await running?.stop();
        await wire.close();
        clearUp(place);
      }
    });
});

/** What a client states is what was read back, in all that it states; to the microsecond, which is what some print. */
function compare(stated: readonly StatedSpan[], read: readonly StatedSpan[]): void {
  expect(stated).to.have.length(read.length);
  for (const { start, end, ...span } of stated) {
    const found = read.find(({ spanId }) => spanId === span.spanId);
    expect(found, `${span.name} in ${JSON.stringify(read)}`).to.deep.include(span);
    expect(found?.start).to.be.closeTo(start, 1);
    expect(found?.end).to.be.closeTo(end, 1);
  }
}

/** All spans of a tenant, by the ids of its traces. */
async function readBack(instance: Instance, { id, key }: Tenant): Promise<WholeSpan[]> {
  const base = `${instance.app}/api/v1/tenants/${String(id)}/traces`;
  const get = async <Answer>(url: string): Promise<Answer> => {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
    if (response.status !== 200) throw new Error(`${url} answered ${String(response.status)}: ${await response.text()}`);
    return (await response.json()) as Answer;
  };
  const { traces } = await get<{ traces: { trace_id: string }[] }>(`${base}?limit=100`);
  const whole = await Promise.all(traces.map(({ trace_id }) => get<{ resourceSpans: ResourceSpans }>(`${base}/${trace_id}`)));
  return wholeSpans(whole.flatMap(({ resourceSpans }) => resourceSpans));
}

/** Waits until every span is found; says what the client printed and what it was answered where one does not come. */
async function arrival(tracer: Tracer, running: Running, wire: Wire, read: () => Promise<WholeSpan[]>): Promise<WholeSpan[]> {
  const hasFailed = (): boolean => (running.exitCode() ?? 0) !== 0;
  const last = await until('the spans', read, (spans) => spans.length >= tracer.spans || hasFailed(), MOST_SECONDS * 1000).catch(
    (error: unknown) => error as Error,
  );
  if (!(last instanceof Error) && last.length >= tracer.spans) return last;
  const requests = wire.passed.map(({ method, path, status }) => `${method} ${path} ${String(status)}`).join(', ');
  const found = last instanceof Error ? last.message : JSON.stringify(last);
  throw new Error(`${tracer.name}: exit ${String(running.exitCode())}; requests: ${requests}\n${running.output()}\n${found}`);
}
