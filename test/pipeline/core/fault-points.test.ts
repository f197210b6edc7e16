import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  bodyWith,
  FAULT_PERIODS,
  FAULT_POINTS,
  isOn,
  periodMs,
  reach,
  SAFETY_PARTS,
  type FaultPeriod,
  type FaultPoint,
  type SafetyPart,
} from '../../../pipeline/core/fault-points.ts';
import { faultPreload } from '../../faults/fault-points.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const MODULE = path.join(ROOT, 'pipeline/core/fault-points.ts');

/** Where each is, and nowhere else. */
const PLACES: Readonly<Record<FaultPoint | SafetyPart | FaultPeriod, string>> = {
  'after-intent': 'pipeline/bus/consumer/range-steps.ts',
  'mid-insert': 'pipeline/store/client.ts',
  'after-insert': 'pipeline/bus/consumer/range-steps.ts',
  'after-commit': 'pipeline/bus/consumer/range-steps.ts',
  'before-outputs': 'pipeline/processors/host/write-queue.ts',
  'after-outputs': 'pipeline/processors/host/write-queue.ts',
  'after-snapshot': 'pipeline/processors/host/hosted-partition.ts',
  idempotence: 'pipeline/bus/producer/record-batch.ts',
  'all-replicas': 'pipeline/bus/producer/broker-connection.ts',
  usage: 'main/roles/signal-plane.ts',
  intent: 'pipeline/bus/consumer/range-steps.ts',
  recall: 'pipeline/bus/consumer/range-steps.ts',
  'joint-insert': 'sinks/writer.ts',
  token: 'sinks/writer.ts',
  deduplication: 'sinks/writer.ts',
  'one-block': 'sinks/writer.ts',
  fence: 'sinks/writer.ts',
  'read-back': 'sinks/writer.ts',
  positions: 'sinks/shared-columns.ts',
  'state-order': 'pipeline/processors/host/hosted-partition.ts',
  'state-clock': 'pipeline/processors/base/segments.ts',
  'state-once': 'pipeline/processors/host/hosted-partition.ts',
  'state-taken': 'pipeline/alerting/book/alert-book.ts, pipeline/processors/merge/partials.ts',
  snapshot: 'pipeline/processors/host/hosted-partition.ts',
  'volume-minute': 'pipeline/processors/base/spans.ts',
  'span-step': 'pipeline/core/span-steps.ts',
};

const sources = ['pipeline', 'api', 'sinks', 'main', 'logsql', 'cli', 'compose']
  .flatMap((folder) => readdirSync(path.join(ROOT, folder), { recursive: true }).map((file) => path.join(folder, String(file))))
  .filter((file) => /\.m?ts$|\.mjs$/.test(file) && path.join(ROOT, file) !== MODULE);

/** What a source asks of the fault points: the function, the name, and whether it is asked as the module loads. */
function uses(source: string): { readonly asked: string; readonly name: string; readonly asItLoads: boolean }[] {
  const names = 'reach|bodyWith|isOn|periodMs';
  const all = [...source.matchAll(new RegExp(`^(.*)\\b(${names})\\('([^']+)'`, 'gm'))];
  return all.map(([, before = '', asked = '', name = '']) => ({ asked, name, asItLoads: /^(export )?const |^ {2}\.\.\.\($/.test(before) }));
}

/** What a program that has imported the module, with this loaded before it, says. */
function said(
  program: string,
  { preload = [], env = {} }: { readonly preload?: readonly string[]; readonly env?: NodeJS.ProcessEnv },
): string {
  const args = [...preload.flatMap((module) => ['--import', module]), '--input-type=module', '--eval'];
  const text = `const points = await import(${JSON.stringify(pathToFileURL(MODULE).href)}); ${program}`;
  const { stdout, stderr, signal } = spawnSync(process.execPath, [...args, text], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return signal ?? (stdout === '' ? stderr : stdout.trim());
}

describe('fault points', () => {
  const lists = [FAULT_POINTS, SAFETY_PARTS, FAULT_PERIODS];
  const names = lists.flatMap((list) => Object.keys(list));

  it('have names of their own, and each says what it is for', () => {
    expect(new Set(names).size).to.equal(names.length);
    for (const about of lists.flatMap((list) => Object.values(list))) expect(about).to.match(/^[A-Z].{10,}\.$/);
  });

  it('are where they should be and nowhere else', () => {
    const found = new Map<string, Set<string>>();
    for (const file of sources)
      for (const { name } of uses(readFileSync(path.join(ROOT, file), 'utf8'))) found.set(name, (found.get(name) ?? new Set()).add(file));
    expect(Object.fromEntries([...found].map(([name, files]) => [name, [...files].join(', ')]))).to.deep.equal(PLACES);
    expect(names).to.have.members(Object.keys(PLACES));
  });

  it('are asked with the right function; parts and periods as a module loads, so that nothing asks for each record', () => {
    const lists = { reach: FAULT_POINTS, bodyWith: FAULT_POINTS, isOn: SAFETY_PARTS, periodMs: FAULT_PERIODS };
    for (const file of sources)
      for (const { asked, name, asItLoads } of uses(readFileSync(path.join(ROOT, file), 'utf8'))) {
        expect(lists[asked as keyof typeof lists], `${file}: ${asked}`).to.have.property(name);
        if (asked === 'isOn' || asked === 'periodMs') expect(asItLoads, `${file}: ${name}`).to.equal(true);
      }
  });

  it('are found by a look at a source', () => {
    expect(uses("const A = isOn('token');\n  if (isOn('fence')) reach('after-intent');\n  ...(isOn('one-block')\n")).to.deep.equal([
      { asked: 'isOn', name: 'token', asItLoads: true },
      { asked: 'reach', name: 'after-intent', asItLoads: false },
      { asked: 'isOn', name: 'one-block', asItLoads: true },
    ]);
  });

  it('do nothing without a hook', () => {
    const body = [Buffer.from('a'), Buffer.from('b')];
    for (const point of Object.keys(FAULT_POINTS) as FaultPoint[]) {
      expect(reach(point)).to.equal(undefined);
      expect(bodyWith(point, 'INSERT INTO logs', body)).to.equal(body);
    }
    for (const part of Object.keys(SAFETY_PARTS) as SafetyPart[]) expect(isOn(part), part).to.equal(true);
    for (const period of Object.keys(FAULT_PERIODS) as FaultPeriod[]) expect(periodMs(period, 60_000)).to.equal(60_000);
  });

  const SAYS = "process.stdout.write([points.isOn('token'), points.isOn('fence'), points.periodMs('snapshot', 30000)].join(' '));";

  it('are broken by what is loaded before the program', () => {
    const preload = [faultPreload({ off: ['token'], periods: { snapshot: 300 } })];
    expect(said(SAYS, { preload })).to.equal('false true 300');
    const strikes = "process.emit('message', { type: 'arm-fault', point: 'after-commit', signal: 'SIGKILL' });";
    expect(said(`${strikes} points.reach('after-insert'); ${SAYS}`, { preload })).to.equal('false true 300');
    expect(said(`${strikes} points.reach('after-commit'); ${SAYS}`, { preload })).to.equal('SIGKILL');
  });

  it('by no environment and nothing that comes later', () => {
    const env = { LOGWEIR_FAULTS: 'token', LOGWEIR_FAULT_HOOK: '{"off":["token"]}', NODE_ENV: 'test' };
    const late = "globalThis[points.FAULT_HOOK] = { off: ['token', 'fence'], periodsMs: { snapshot: 1 } };";
    expect(said(`${late} ${SAYS}`, { env })).to.equal('true true 30000');
    expect(readFileSync(MODULE, 'utf8')).not.to.match(/process\.|argv|import /);
  });
});
