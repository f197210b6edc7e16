import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { buildRecorder } from '../../web/build-recorder.mjs';
import { startBrowser } from '../../test/e2e/browser.ts';

/** An event of rrweb. */
export type ReplayEvent = { readonly type: number; readonly timestamp: number; readonly data: unknown };

const EXAMPLE = path.resolve(import.meta.dirname, '../../examples/replay');
/** A shop page has more than that of the example: a table of books, and rules of its style. */
const ROWS = Array.from({ length: 120 }, (_none, i) => `<tr><td>Book ${String(i)}</td><td>An author of book ${String(i)}</td><td>${String(9 + (i % 40))}.90</td><td><button>Add</button></td></tr>`).join(''); // prettier-ignore
const RULES = Array.from({ length: 400 }, (_none, i) => `.c${String(i)} > li:nth-child(${String(i % 9)}) { color: #${String(100 + i)}; margin: ${String(i % 17)}px; }`).join('\n'); // prettier-ignore

/** Events that the recorder sends of a user who moves, types, clicks and scrolls for some seconds in Chromium; null without a browser. */
export async function recordedEvents(seconds: number): Promise<readonly ReplayEvent[] | null> {
  const browser = await startBrowser();
  if (browser === null) return null;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-bench-'));
  const recorder = readFileSync(await buildRecorder(folder), 'utf8');
  rmSync(folder, { recursive: true });
  const events = new Map<string, readonly ReplayEvent[]>();
  const page = readFileSync(path.join(EXAMPLE, 'shop.html'), 'utf8').replace(/data-url="[^"]*"/, 'data-url="/"').replace('<ul', `<table>${ROWS}</table><ul`); // prettier-ignore
  const server = http.createServer((request, response) => {
    const { url = '' } = request;
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => void parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      if (url.startsWith('/v1/rum/replay')) {
        const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
        const batch = JSON.parse(text) as { seq: number; events: ReplayEvent[] };
        events.set(String(batch.seq), batch.events);
        response.writeHead(202).end('{"status":"ok"}');
      } else if (url === '/replay-recorder.js') response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(recorder);
      else if (url === '/shop.js')
        response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(readFileSync(path.join(EXAMPLE, 'shop.js')));
      else if (url === '/shop.css') response.writeHead(200, { 'Content-Type': 'text/css' }).end(RULES);
      else response.writeHead(200, { 'Content-Type': 'text/html' }).end(url === '/' ? page : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tab = await browser.newPage();
  await tab.goto(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`);
  await tab.evaluate('LogweirReplay.recorder.then((one) => one.sessionId)');
  for (let until = Date.now() + seconds * 1000, step = 0; Date.now() < until; step++) {
    await tab.mouse.move(100 + ((step * 37) % 600), 100 + ((step * 53) % 400), { steps: 20 });
    if (step % 5 === 0) await tab.mouse.wheel(0, step % 10 === 0 ? 300 : -300);
    if (step % 7 === 0) await tab.click('#books button');
    if (step % 9 === 0) await tab.fill('#note', `a note of ${String(step)} words`);
  }
  await tab.evaluate('LogweirReplay.recorder.then((one) => one.flush())');
  await tab.waitForFunction("new Promise((resolve) => { const r = indexedDB.open('logweir-replay', 1); r.onsuccess = () => { const c = r.result.transaction('batches').objectStore('batches').count(); c.onsuccess = () => resolve(c.result === 0); }; })"); // prettier-ignore
  await browser.close();
  server.closeAllConnections();
  server.close();
  return [...events.values()].flat().sort((a, b) => a.timestamp - b.timestamp);
}

/** The same events as those of a session that is longer: repeated, at later times. */
export function* repeated(events: readonly ReplayEvent[], from: number, minutes: number): Generator<ReplayEvent> {
  const [first, last] = [events[0]?.timestamp ?? 0, events.at(-1)?.timestamp ?? 0];
  const length = last - first + 50;
  for (let offset = 0; offset < minutes * 60_000; offset += length)
    for (const event of events) {
      const after = event.timestamp - first + offset;
      if (after < minutes * 60_000) yield { ...event, timestamp: from + after };
    }
}
