#!/usr/bin/env node
/**
 * Firefox as Playwright starts it: playwright-core speaks WebDriver BiDi to an unchanged Firefox, and asks it for one command that releases of
 * Debian do not have, `emulation.setMediaFeaturesOverride`. This stands between, and answers that one itself; colours and motion are set by preferences.
 * LOGWEIR_TEST_FIREFOX is the program.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { WebSocket, WebSocketServer } from 'ws';

const UNKNOWN = 'emulation.setMediaFeaturesOverride';
const { LOGWEIR_TEST_FIREFOX: program = '', ...env } = process.env;
const child = spawn(program, process.argv.slice(2), { env, stdio: ['ignore', 'inherit', 'pipe'] });
child.once('exit', (code) => process.exit(code ?? 1));

/** All that Playwright and Firefox tell each other, but for the one command. */
function between(client, url) {
  const browser = new WebSocket(url, { perMessageDeflate: false });
  const waiting = [];
  client.on('message', (data) => {
    const text = data.toString();
    const { id, method } = JSON.parse(text);
    if (method === UNKNOWN) client.send(JSON.stringify({ type: 'success', id, result: {} }));
    else if (browser.readyState === WebSocket.OPEN) browser.send(text);
    else waiting.push(text);
  });
  browser.on('open', () => waiting.splice(0).forEach((text) => browser.send(text)));
  browser.on('message', (data) => client.send(data.toString()));
  browser.on('close', () => client.close());
  browser.on('error', () => client.close());
  client.on('close', () => browser.close());
}

createInterface(child.stderr).on('line', (line) => {
  const [, url] = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(line) ?? [];
  if (url === undefined) {
    console.error(line);
    return;
  }
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  server.on('connection', (client) => between(client, `${url}/session`));
  server.on('listening', () => console.error(`WebDriver BiDi listening on ws://127.0.0.1:${String(server.address().port)}`));
});
