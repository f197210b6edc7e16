import { expect } from 'chai';
import { pino } from 'pino';
import { AdminConnection } from '../../../pipeline/bus/connection/admin-connection.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { LagSeconds } from '../../../pipeline/bus/measured/lag-seconds.ts';
import { LogGuard } from '../../../pipeline/bus/measured/log-guard.ts';
import { until } from '../instance.ts';
import { leaseBroker, type LeasedBroker } from '../../engines/leased-broker.ts';

const log = pino({ level: 'silent' });

describe('the guard of a log that is missing', function () {
  this.timeout(600_000);
  let broker: LeasedBroker;
  before(async () => {
    broker = await leaseBroker();
  });
  after(() => broker.giveBack());

  it('says which topic Kafka lacks, and publishes nothing', async () => {
    const kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log });
    const connection = new AdminConnection(kafka, 20_000);
    const lag = new LagSeconds({ connection, topic: 'absent.v1', groupId: 'sink' });
    let published = 0;
    const append = (): Promise<bigint> => Promise.resolve(BigInt(published++));
    const guard = new LogGuard({ checks: [{ topic: 'absent.v1', check: () => lag.check() }], topic: { append }, logger: log, everyMs: 50 });
    await guard.start();
    const warning = await until('the warning', () => Promise.resolve(guard.warning), (said) => said !== null); // prettier-ignore
    expect(warning).to.equal('Ingest pauses, since the log cannot be watched: Kafka has no topic absent.v1; a start creates it, empty.');
    expect(published).to.equal(0);
    await guard.stop();
    await connection.disconnect();
  });
});
