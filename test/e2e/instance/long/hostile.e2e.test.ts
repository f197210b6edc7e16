import { expect } from 'chai';
import { extent, isWhole } from '../../../extent.ts';
import { ATTACKS } from '../../../hostile/attacks.ts';
import { brokenRules } from '../../../hostile/rules.ts';
import { HostileRunner } from '../../../hostile/runner.ts';
import type { Instance } from '../../instance.ts';
import { sharedInstance, shareWith } from '../../shared.ts';
import { doorPorts, shareDoors } from './shared-doors.ts';

/** One of each kind; `npm run hostile` runs all of them, and judges times too. */
const SAMPLE = [
  'replaces',
  'explain-regexps',
  'huge-pages',
  'search-deep-json',
  'unread-pages',
  'clients-that-leave',
  'byte-uploads',
  'stream-names-400',
  'ones',
  'zstd-bomb',
  'spans-own-services',
  'jaeger-search-all',
  'door-connections',
  'door-slow-bytes',
  'grpc-resets',
];
/** Beyond what the quiet tenant waits for an answer: how long it waits is for `npm run hostile` to judge, on an idle machine. */
const QUERY_TIMEOUT_SECONDS = 25;
/** How long an attack goes on; what was not answered so long after it is given up by the attacker, and with it its queries. Milliseconds. */
const [ATTACK_MS, GRACE_MS] = [extent(600, 1000), extent(2000, 4000)];
const ENTRIES = extent(10_000, 20_000);
/** Searches of the quiet tenant that wait; its plan lets 32 wait in all. */
const MAX_PENDING = 8;

shareDoors();
shareWith(() => Promise.resolve({ LOGWEIR_QUERY_TIMEOUT_SECONDS: String(QUERY_TIMEOUT_SECONDS) }));

describe('a tenant that attacks', function () {
  this.timeout(900_000);
  let instance: Instance;
  let runner: HostileRunner;
  before(async () => {
    instance = await sharedInstance();
    const url = (port: number): string => `http://127.0.0.1:${String(port)}`;
    const doors = { syslog: url(doorPorts.tcp), otlp: url(doorPorts.grpc) };
    runner = await HostileRunner.start(instance, {
      doors,
      entries: ENTRIES,
      attackMs: ATTACK_MS,
      graceMs: GRACE_MS,
      maxPending: MAX_PENDING,
    });
  });
  after(() => {
    runner.stop();
  });

  for (const name of isWhole ? ATTACKS.map((attack) => attack.name) : SAMPLE)
    it(`harms nobody else: ${name}`, async function () {
      // a machine that is busy with other work refuses writes too, for a while
      this.retries(2);
      const record = await runner.run(name);
      expect(brokenRules(record)).to.deep.equal([]);
      expect(record.answers, 'the attack came to nothing').to.not.have.property('unsent');
      expect(record.quiet.search.ms).to.not.be.empty;
    });

  it('loses no entry of another one', async () => {
    await runner.checkWritten();
  });
});
