import { createServer, connect, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';

/**
 * Stands before the native port of an embedded ClickHouse, on a port of its own. Where a connection is reset, as by another server that gives up a query, the engine sees
 * it end instead: the native server of chdb 26.7.3 ends its process with SIGABRT when a connection with a user is reset. No other ClickHouse was here to try.
 */
export class NativeProxy {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(target: number): Promise<NativeProxy> {
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const engine = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
      client.pipe(engine, { end: false });
      engine.pipe(client);
      const leave = (): void => {
        // what it still says is read, or its end of the connection would be reset
        engine.unpipe(client);
        engine.resume();
        engine.end();
      };
      client.once('end', leave).once('error', leave).once('close', leave);
      engine.once('error', () => client.resetAndDestroy());
      engine.once('close', () => client.destroy());
    });
    server.listen(0, '127.0.0.1').unref();
    await once(server, 'listening');
    return new NativeProxy(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.close();
  }
}
