import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { chromium, firefox, type Browser } from 'playwright-core';
import { findProgram } from '../../compose/embedded/run.ts';
import { freePorts } from '../free-ports.ts';
import { NotHere } from '../shippers/toolsets.ts';
import { debianProgram } from './debian-program.ts';
import { until } from './instance.ts';

const ARGUMENTS = ['--no-sandbox', '--disable-gpu'];

/** Headless Chromium: the machine's own, else the one of an npm package. Null, and says so, where this machine cannot have it. */
export async function startBrowser(): Promise<Browser | null> {
  return orSaid('no browser connects', async () => {
    const own = findProgram('chromium') ?? findProgram('google-chrome');
    if (own !== null) return chromium.launch({ executablePath: own, args: ARGUMENTS });
    return startPackagedBrowser();
  });
}

/** The Chromium that comes with npm: it is built for Linux on x64 and ARM alone. */
async function startPackagedBrowser(): Promise<Browser> {
  if (process.platform !== 'linux') throw new NotHere('the Chromium of npm is for Linux; install Chromium or Chrome.');
  const { default: packaged } = await import('@sparticuz/chromium');
  // its own arguments are made for one page: a single process, which ends with the first context that is closed, and no rules between origins
  return chromium.launch({ executablePath: await packaged.executablePath(), args: ARGUMENTS });
}

/** Headless Firefox of Debian, by WebDriver BiDi; its clipboard needs no one's consent, and nothing moves. Null, and says so, where it cannot be had. */
export async function startFirefox(): Promise<Browser | null> {
  return orSaid('no Firefox connects', async () => {
    const { file, env } = await debianProgram('firefox', 'firefox-esr', 'usr/lib/firefox-esr/firefox-esr');
    return firefox.launch({
      channel: 'moz-firefox',
      executablePath: path.join(import.meta.dirname, 'bidi-firefox.mjs'),
      env: { ...process.env, ...env, LOGWEIR_TEST_FIREFOX: file },
      firefoxUserPrefs: { 'dom.events.testing.asyncClipboard': true, 'ui.prefersReducedMotion': 1 },
    });
  });
}

/** A reverse proxy of the test. */
export type RunningProxy = { readonly port: number; stop(): Promise<void> };

/** nginx with these locations in its server, on a port of its own; null, and says so, where this machine cannot have it. */
export async function startNginx(locations: string): Promise<RunningProxy | null> {
  return orSaid('no proxy is between', async () => {
    const { file, env } = await debianProgram('browser', 'nginx', 'usr/sbin/nginx');
    const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-test-nginx-'));
    const [port] = (await freePorts(1)) as [number];
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n');
    const config = `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors;
events {}
http {
  access_log off;
  ${kinds}
  server { listen 127.0.0.1:${String(port)};
${locations}
  }
}`;
    writeFileSync(path.join(folder, 'nginx.conf'), config);
    const child = spawn(file, ['-p', folder, '-e', `${folder}/errors`, '-c', path.join(folder, 'nginx.conf')], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] }); // prettier-ignore
    const isThere = (): Promise<boolean> => fetch(`http://127.0.0.1:${String(port)}/`).then(() => true, () => false); // prettier-ignore
    if (!(await until('nginx', isThere, (there) => there || child.exitCode !== null)))
      throw new Error(`nginx ended with ${String(child.exitCode)}.`);
    return {
      port,
      stop: async () => {
        const ended = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
        child.kill('SIGTERM');
        await ended;
        rmSync(folder, { recursive: true });
      },
    };
  });
}

async function orSaid<T>(what: string, start: () => Promise<T>): Promise<T | null> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof NotHere)) throw error;
    console.error(`SKIPPED: ${what}, since ${error.message}`);
    return null;
  }
}
