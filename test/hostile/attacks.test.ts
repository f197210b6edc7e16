import { expect } from 'chai';
import { TOOLS } from '../../api/mcp/tools.ts';
import type { Target } from './attack.ts';
import { attackOf, ATTACKS } from './attacks.ts';
import { brokenRules, judged, type AttackRecord } from './rules.ts';

const TARGET: Target = {
  app: 'http://127.0.0.1:1',
  ingest: 'http://127.0.0.1:2',
  syslog: 'http://127.0.0.1:3',
  otlp: 'http://127.0.0.1:4',
  key: 'k',
  tenantId: 7,
  entries: 10,
};
/** The cap of a body, and some: what is larger is refused by its length alone. */
const MOST = 2.1 * 1024 * 1024;

describe('the attacks', () => {
  it('have names of their own, and more than a hundred', () => {
    expect(new Set(ATTACKS.map(({ name }) => name)).size).to.equal(ATTACKS.length);
    expect(ATTACKS.length).to.be.above(100);
    expect(() => attackOf('nothing')).to.throw('There is no attack "nothing"');
  });

  for (const attack of ATTACKS)
    if ('request' in attack)
      it(`send what the service has to look at: ${attack.name}`, () => {
        const { path, body = '', headers = {} } = attack.request(TARGET, 3);
        expect(path).to.match(/^\//);
        expect(Buffer.byteLength(body)).to.be.below(MOST);
        expect(Object.keys(headers)).to.not.include('Content-Length');
      });
});

describe('the attacks by tools', () => {
  const names = new Set(TOOLS.map(({ name }) => name));
  for (const attack of ATTACKS)
    if (
      'request' in attack &&
      attack.name.startsWith('mcp-') &&
      !['mcp-names', 'mcp-deep', 'mcp-tool-lists', 'mcp-batches'].includes(attack.name)
    )
      it(`use one that there is: ${attack.name}`, () => {
        const { body = '' } = attack.request(TARGET, 3);
        const { params } = JSON.parse(String(body)) as { readonly params: { readonly name: string } };
        expect(names).to.include(params.name);
      });
});

describe('the rules of an attack', () => {
  const seen = { ms: [1, 2, 3], failures: [] };
  const good: AttackRecord = {
    name: 'x',
    quiet: { search: seen, write: seen, health: seen, found: seen, tail: seen, door: seen },
    answers: { '200': 5, '429': 1, '503': 2, '504': 3, cut: 1, '200 cut': 1 },
    processes: { growthMb: { app: 300, clickhouse: 40 }, restarted: [], workersLost: 1, halted: [] },
    seconds: 10,
  };
  const cases: readonly (readonly [string, AttackRecord, string])[] = [
    [
      'a failure',
      { ...good, quiet: { ...good.quiet, write: { ms: [1, 2], failures: ['write: 429'] } } },
      '1 of 2 failed, first write: 429',
    ],
    ['a restart', { ...good, processes: { ...good.processes, restarted: ['sink'] } }, 'sink was started again'],
    [
      'a processor that has halted',
      { ...good, processes: { ...good.processes, halted: ['logweir_processor_halted{processor="rates"}'] } },
      'a processor has halted: logweir_processor_halted{processor="rates"}',
    ],
    ['memory', { ...good, processes: { ...good.processes, growthMb: { ingest: 301 } } }, 'ingest grew by 301 MB'],
    ['a 500', { ...good, answers: { '500': 2 } }, 'the attacker was answered 500 2 times'],
    ['a 502 that was cut', { ...good, answers: { '502 cut': 1 } }, 'the attacker was answered 502 cut 1 times'],
  ];
  for (const [what, record, sentence] of cases) it(`know ${what}`, () => expect(brokenRules(record)).to.deep.equal([sentence]));

  it('let pass what may be', () => {
    expect(brokenRules(good)).to.deep.equal([]);
    expect(judged(good, good.quiet)).to.deep.equal([]);
  });

  it('judge times by those without an attack, and workers by the minute', () => {
    const slow = { ...good, quiet: { ...good.quiet, search: { ms: [1, 300], failures: [] } } };
    expect(judged(slow, good.quiet)).to.deep.equal(['p99 of search is 300 ms, allowed are 250']);
    expect(judged(slow, { ...good.quiet, search: { ms: [160], failures: [] } })).to.deep.equal([]);
    const slowest = { ...good, quiet: { ...good.quiet, health: { ms: [...Array<number>(200).fill(1), 2001], failures: [] } } };
    expect(judged(slowest, good.quiet)).to.deep.equal(['a health took 2001 ms']);
    expect(judged({ ...good, processes: { ...good.processes, workersLost: 2 } }, good.quiet)).to.deep.equal(['2 query workers were ended']);
  });
});
