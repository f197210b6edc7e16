import { expect } from 'chai';
import { once } from 'node:events';
import net from 'node:net';
import { freePorts, onFreePorts, portFault } from '../../compose/embedded/ports.ts';

const listen = async (port: number): Promise<net.Server> => {
  const server = net.createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

describe('ports', () => {
  it('are different, free and below those of outgoing connections', async () => {
    const ports = await freePorts(20);
    expect(new Set(ports).size).to.equal(20);
    expect(ports.every((port) => port >= 20_000 && port < 32_768)).to.equal(true);
  });

  it('tell why they cannot be opened', async () => {
    const [port = 0] = await freePorts(1);
    expect(await portFault(port)).to.equal(null);
    const server = await listen(port);
    expect(await portFault(port)).to.equal('EADDRINUSE');
    server.close();
    expect(await portFault(port, '192.0.2.1')).to.equal('EADDRNOTAVAIL');
  });

  it('are chosen anew when somebody else takes one', async () => {
    const tried: number[] = [];
    const servers: net.Server[] = [];
    const port = await onFreePorts(1, async ([first = 0]) => {
      tried.push(first);
      if (tried.length < 3) {
        servers.push(await listen(first));
        throw new Error('taken');
      }
      return first;
    });
    expect(tried).to.have.length(3);
    expect(port).to.equal(tried[2]);
    for (const server of servers) server.close();
  });

  it('are not chosen anew for another fault', async () => {
    let tries = 0;
    const fault = await onFreePorts(1, () => Promise.reject(new Error(`try ${++tries}`))).catch(String);
    expect(fault).to.equal('Error: try 1');
  });
});
