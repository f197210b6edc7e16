import { expect } from 'chai';
import { until, type Instance } from '../e2e/instance.ts';
import { newTenant, sharedInstance } from '../e2e/shared.ts';
import { clearUp, layOut, type Running } from './programs.ts';
import { checkRequests } from './requests.ts';
import { SHIPPERS, type Expected, type Shipper } from './shippers.ts';
import { NotHere, installToolset, type Toolset, type ToolsetName } from './toolsets.ts';
import { startWire, type Passed, type Wire } from './wire.ts';

type Log = Readonly<Record<string, unknown>>;
type Answer = { readonly logs: readonly Log[]; readonly text: string };

const MOST_SECONDS = 240;
const FEWEST_THAT_RUN = 8;

/** The row of an answer that has a message. */
const rowOf = ({ logs }: Answer, message: Expected): Log | undefined => logs.find((log) => matches(log['_msg'], message));

const matches = (value: unknown, wanted: Expected): boolean =>
  wanted instanceof RegExp ? typeof value === 'string' && wanted.test(value) : value === wanted;

describe('shippers: what real clients log is found', function () {
  this.timeout((MOST_SECONDS + 20) * 1000);
  const toolsets = new Map<ToolsetName, Toolset | NotHere>();
  let instance: Instance;
  let ran = 0;

  before(async function () {
    this.timeout(900_000);
    const say = (line: string): void => console.log(`  ${line}`);
    for (const name of new Set(SHIPPERS.map(({ toolset }) => toolset))) {
      const made = await installToolset(name, say).catch((error: unknown) => {
        if (error instanceof NotHere && name !== 'node') return error;
        throw error;
      });
      toolsets.set(name, made);
      const names = SHIPPERS.filter(({ toolset }) => toolset === name).map((shipper) => shipper.name);
      if (made instanceof NotHere) say(`NOT RUN: ${names.join('; ')}: ${made.message}`);
    }
    instance = await sharedInstance();
  });

  for (const shipper of SHIPPERS) {
    it(shipper.name, async function () {
      const toolset = toolsets.get(shipper.toolset);
      if (toolset === undefined || toolset instanceof NotHere) return this.skip();
      const tenant = await newTenant(instance);
      const wire = await startWire(instance.ingest, { refuseFirst: shipper.resends });
      const place = layOut(shipper.example, toolset.folder, { port: wire.port, key: tenant.key }, shipper.edit);
      const search = (): Promise<Answer> => everything(instance, tenant);
      const began = Date.now();
      let running: Running | undefined;
      try {
        running = await shipper.start(place);
        await arrival(shipper, running, search, wire);
        if (shipper.prints !== undefined) {
          await until(
            'the end of the program',
            () => Promise.resolve(running?.exitCode()),
            (code) => code !== null,
          );
          expect(running.output()).to.contain(shipper.prints);
        }
        await running.stop();
        checkRequests(shipper, wire.passed);
        checkEntries(shipper, await search(), { began, passed: wire.passed });
        ran += 1;
      } finally {
        await running?.stop();
        await wire.close();
        clearUp(place);
      }
    });
  }

  it(`at least ${FEWEST_THAT_RUN} of them ran`, () => expect(ran).to.be.at.least(FEWEST_THAT_RUN));
});

async function everything(instance: Instance, tenant: { readonly id: number; readonly key: string }): Promise<Answer> {
  const response = await fetch(`${instance.app}/api/v1/tenants/${tenant.id}/search?enrich=false`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '*', start: '-1h' }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`search answered ${response.status}: ${text}`);
  return { logs: (JSON.parse(text) as { logs: Log[] }).logs, text };
}

/** Waits until every entry is found; says what the shipper printed and what the service answered where one does not come. */
async function arrival(shipper: Shipper, running: Running, search: () => Promise<Answer>, wire: Wire): Promise<void> {
  const isComplete = ({ logs }: Answer): boolean => logs.length >= shipper.found.length;
  const hasFailed = (): boolean => (running.exitCode() ?? 0) !== 0;
  const last = await until('the entries', search, (answer) => isComplete(answer) || hasFailed(), MOST_SECONDS * 1000).catch(
    (error: unknown) => error as Error,
  );
  if (!(last instanceof Error) && isComplete(last)) return;
  const requests = wire.passed.map(({ method, path, status }) => `${method} ${path} ${status}`).join(', ');
  const found = last instanceof Error ? last.message : last.text;
  throw new Error(`${shipper.name}: exit ${String(running.exitCode())}; requests: ${requests}\n${running.output()}\n${found}`);
}

function checkEntries(
  { found, fractionDigits }: Shipper,
  answer: Answer,
  { began, passed }: { readonly began: number; readonly passed: readonly Passed[] },
): void {
  const seen = JSON.stringify(answer.logs, null, 1);
  expect(answer.logs, seen).to.have.length(found.length);
  const digits: number[] = [];
  for (const wanted of found) {
    const row = rowOf(answer, wanted._msg);
    expect(row, `no ${String(wanted._msg)} in ${seen}`).to.not.equal(undefined);
    for (const [name, value] of Object.entries(wanted)) {
      if (typeof value === 'bigint') expect(answer.text).to.contain(`"${name}":${value}`);
      else
        expect(matches(row?.[name], value), `${name} is ${JSON.stringify(row?.[name])}, not ${String(value)}, in ${seen}`).to.equal(true);
    }
    const time = String(row?.['_time']);
    digits.push(/\.(\d+)Z$/.exec(time)?.[1]?.length ?? 0);
    // its own time, not that of the arrival, which the wire delays
    const sentAt = Math.max(...passed.filter(({ status }) => status < 300).map(({ arrivedAt }) => arrivedAt));
    expect(Date.parse(time), `${time} is not between ${began} and ${sentAt}`).to.be.within(began - 1, sentAt + 1);
  }
  if (fractionDigits === 3) expect(Math.max(...digits)).to.be.at.most(3);
  else expect(Math.max(...digits)).to.be.at.least(fractionDigits);
}
