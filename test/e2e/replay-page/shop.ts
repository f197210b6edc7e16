import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const EXAMPLE = path.resolve(import.meta.dirname, '../../../examples/replay');
const read = (file: string): string => readFileSync(path.join(EXAMPLE, file), 'utf8');

export type Shop = { readonly url: string; stop(): Promise<void> };

export type ShopOptions = {
  readonly port: number;
  /** The service, and the key that the page has. */
  readonly app: string;
  readonly key: string;
  /** The bundled recorder, and the bundled player. */
  readonly recorder: string;
  readonly player: string;
};

/** Serves the page of `examples/replay` under a strict policy, and a page with the player. */
export async function startShop({ port, app, key, recorder, player }: ShopOptions): Promise<Shop> {
  const policy = `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ${app}`;
  const page = read('shop.html').replace(/data-url="[^"]*"/, `data-url="${app}"`).replace('data-key="KEY"', `data-key="${key}"`); // prettier-ignore
  const playerPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; frame-src 'self'";
  const scripts: Readonly<Record<string, string>> = {
    '/replay-recorder.js': readFileSync(recorder, 'utf8'),
    '/shop.js': read('shop.js'),
    '/player.js': player,
  };
  const server = http.createServer(({ url = '' }, response) => {
    const [at = ''] = url.split('?');
    const script = scripts[at];
    if (script !== undefined) response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(script);
    else if (at === '/shop.css') response.writeHead(200, { 'Content-Type': 'text/css' }).end(read('shop.css'));
    else if (at === '/api/pay') response.writeHead(500).end('no');
    else if (at === '/favicon.ico') response.writeHead(204).end();
    else if (at === '/player')
      response
        .writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': playerPolicy })
        .end('<!doctype html><body><script src="/player.js"></script>');
    else response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String(port)}`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}
