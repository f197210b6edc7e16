import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import { pino } from 'pino';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { takeTurn, TurnTaken, type Turn } from '../../../pipeline/bus/consumer/turn.ts';
import { leaseBroker, type LeasedBroker } from '../../engines/leased-broker.ts';
import { until } from '../instance.ts';

const log = pino({ level: 'silent' });
/** As short as Kafka lets a session be. */
const OPTIONS = { groupId: 'logweir-backup-test', taken: 'another one has it', sessionMs: 6000 };

describe('a turn that one process of many has', function () {
  this.timeout(600_000);
  let broker: LeasedBroker;
  before(async () => {
    broker = await leaseBroker();
  });
  after(() => broker.giveBack());

  const take = (): Promise<Turn> => takeTurn(createKafka({ brokers: [broker.brokers], clientId: 'test', log }), OPTIONS);
  const refused = (): Promise<unknown> => take().then(() => null, (error: unknown) => error); // prettier-ignore

  it('is refused while another one has it, who keeps it, and is free when that one ends it', async () => {
    const first = await take();
    for (let time = 0; time < 3; time++) {
      expect(await refused())
        .to.be.instanceOf(TurnTaken)
        .with.property('message', 'another one has it');
      await first.confirm();
    }
    await first.end();
    const second = await take();
    expect(await refused()).to.be.instanceOf(TurnTaken);
    await second.end();
  });

  it('goes to one of those that want it at the same time', async () => {
    const outcomes = await Promise.allSettled([take(), take(), take(), take()]);
    const turns = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(turns).to.have.length(1);
    await turns[0]?.confirm();
    await turns[0]?.end();
  });

  it('is lost by a process that is halted, which is told when it goes on', async () => {
    const other = spawn(process.execPath, ['--input-type=module', '-e', OTHER], { env: { ...process.env, BROKERS: broker.brokers }, stdio: ['pipe', 'pipe', 'inherit'] }); // prettier-ignore
    try {
      expect(await lineOf(other)).to.equal('has it');
      expect(await refused()).to.be.instanceOf(TurnTaken);
      other.kill('SIGSTOP');
      const turn = await until('the turn', () => take().catch(() => null), (taken) => taken !== null); // prettier-ignore
      other.kill('SIGCONT');
      other.stdin.write('confirm\n');
      expect(await lineOf(other)).to.equal('another one has it');
      await turn?.confirm();
      await turn?.end();
    } finally {
      other.kill('SIGKILL');
    }
  });
});

const fileOf = (name: string): string =>
  JSON.stringify(pathToFileURL(path.resolve(import.meta.dirname, '../../../pipeline/bus', name)).href);

/** Another process: it takes the turn, and says what has become of it when it is told to look. */
const OTHER = `
import { pino } from 'pino';
import { createKafka } from ${fileOf('connection/kafka.ts')};
import { takeTurn } from ${fileOf('consumer/turn.ts')};
const kafka = createKafka({ brokers: [process.env.BROKERS], clientId: 'other', log: pino({ level: 'silent' }) });
const turn = await takeTurn(kafka, ${JSON.stringify(OPTIONS)});
console.log('has it');
process.stdin.once('data', () => turn.confirm().then(() => console.log('has it still'), (error) => console.log(error.message)));
`;

/** What it says next; empty where it ends instead. */
async function lineOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) return '';
  const said = once(stdout, 'data').then(([bytes]) => String(bytes).trim());
  return Promise.race([said, once(stdout, 'end').then(() => '')]);
}
