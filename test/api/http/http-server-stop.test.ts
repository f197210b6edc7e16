import { expect } from 'chai';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { health, type Endpoint } from '../../../api/http/endpoint.ts';
import { eventually } from '../../fakes/eventually.ts';
import { RawClient } from '../../fakes/raw-client.ts';
import { SlowEndpoint } from '../../fakes/slow-endpoint.ts';
import { startHost } from '../../fakes/test-host.ts';

const slow = new SlowEndpoint('/slow');
const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';

describe('stopping the HTTP server', () => {
  it('refuses new connections, lets requests finish, and closes idle connections', async () => {
    const host = await startHost({ endpoints: [health, slow.endpoint] });
    const idle = new RawClient(host.port).send(HEALTH);
    await idle.answer();
    const busy = new RawClient(host.port).send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await slow.another();
    const stopped = host.stop();
    await idle.gone();
    const late = new RawClient(host.port === 0 ? 9 : host.port);
    await late.gone();
    let done = false;
    void stopped.then(() => {
      done = true;
    });
    await sleep(60);
    expect(done).to.equal(false);
    slow.release();
    const answer = await busy.answer();
    expect(answer.status).to.equal(200);
    expect(answer.headers['connection']).to.equal('close');
    await stopped;
    await host.stop();
  });

  it('takes requests while it drains, and sends their clients elsewhere', async () => {
    const host = await startHost({ endpoints: [health] });
    const client = new RawClient(host.port).send(HEALTH);
    expect((await client.answer()).headers['connection']).to.equal('keep-alive');
    host.drain();
    expect((await client.send(HEALTH).answer()).headers['connection']).to.equal('close');
    await client.gone();
    const another = new RawClient(host.port).send(HEALTH);
    expect((await another.answer()).headers['connection']).to.equal('close');
    await host.stop();
  });

  it('answers what lies unread in idle connections and in ones that were not taken yet', async () => {
    for (let round = 0; round < 20; round++) {
      const host = await startHost({ endpoints: [health] });
      const clients = Array.from({ length: 20 }, () => new RawClient(host.port));
      await Promise.all(clients.map((client) => client.send(HEALTH).answer()));
      // all of these arrive while this turn of the event loop goes on
      const late = Array.from({ length: 20 }, () => new RawClient(host.port));
      for (const client of [...clients, ...late]) client.send(HEALTH);
      const stopped = host.stop();
      const answers = await Promise.all([...clients, ...late].map((client) => client.answer()));
      for (const { status, headers } of answers) expect([status, headers['connection']]).to.deep.equal([200, 'close']);
      await stopped;
    }
  });

  it('lets an answer that was given arrive, however slow its reader is', async () => {
    const body = 'x'.repeat(20_000_000);
    const large: Endpoint = { ...health, path: '/large', handle: () => Promise.resolve({ status: 200, body }) };
    const host = await startHost({ endpoints: [large] });
    let [received, ended] = [0, false];
    const socket = connect({ port: host.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('readable', resolve));
    const stopped = host.stop();
    await sleep(200); // several sweeps
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    socket.on('close', () => {
      ended = true;
    });
    await stopped;
    await eventually(
      'the end',
      () => ended,
      (isOver) => isOver,
    );
    expect(received).to.be.above(body.length);
  });

  it('is safe before the start, and a port in use is an error', async () => {
    const host = await startHost({ endpoints: [health] });
    let message = '';
    await startHost({ endpoints: [health], port: host.port }).catch((error: unknown) => {
      message = (error as Error).message;
    });
    expect(message).to.contain('EADDRINUSE');
    await host.stop();
    await host.stop();
  });
});
