import { expect } from 'chai';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { AddressInfo } from 'node:net';
import { main } from '../../cli/main.ts';
import { CapturedOutput } from '../fakes/captured-output.ts';

type Sent = { readonly method: string; readonly url: string; readonly body: unknown };

describe('logweir keys, saved, projects, playbooks', () => {
  const sent: Sent[] = [];
  let server: http.Server;
  let answer: { readonly status: number; readonly body: unknown };

  before(async () => {
    server = http.createServer((request, response) => {
      let text = '';
      request.on('data', (part: Buffer) => (text += part.toString()));
      request.on('end', () => {
        sent.push({ method: request.method ?? '', url: request.url ?? '', body: text === '' ? null : JSON.parse(text) });
        response
          .writeHead(answer.status, { 'Content-Type': 'application/json' })
          .end(answer.status === 204 ? '' : JSON.stringify(answer.body));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    sent.length = 0;
  });

  async function run(argv: readonly string[], status = 200, body: unknown = {}): Promise<{ code: number; to: CapturedOutput }> {
    answer = { status, body };
    const { port } = server.address() as AddressInfo;
    const to = new CapturedOutput({ isTerminal: false });
    const env = { LOGWEIR_URL: `http://127.0.0.1:${String(port)}`, LOGWEIR_API_KEY: 'k', LOGWEIR_TENANT: '7', NO_COLOR: '1' };
    return { code: await main(argv, env, to), to };
  }

  const TENANT = '/api/v1/tenants/7';
  const cases: readonly (readonly [readonly string[], Sent])[] = [
    [['keys', 'list'], { method: 'GET', url: `${TENANT}/keys?limit=1000`, body: null }],
    [['keys', 'delete', 'a/b'], { method: 'DELETE', url: `${TENANT}/keys/a%2Fb`, body: null }],
    [
      ['saved', 'create', '--name', 'slow', '--query', 'duration_ms:>500', '--columns', 'service,_msg', '--shared'],
      {
        method: 'POST',
        url: `${TENANT}/saved-searches`,
        body: { name: 'slow', query: 'duration_ms:>500', columns: ['service', '_msg'], shared: true },
      },
    ],
    [['saved', 'list'], { method: 'GET', url: `${TENANT}/saved-searches?limit=1000`, body: null }],
    [
      ['projects', 'create', '--name', 'shop', '--labels', 'team=a,env=prod'],
      { method: 'POST', url: '/api/v1/account/projects', body: { name: 'shop', labels: { team: 'a', env: 'prod' } } },
    ],
    [
      [
        'playbooks',
        'create',
        '--name',
        'p',
        '--file',
        path.join(import.meta.dirname, '../../docs/adr/README.md'),
        '--services',
        'a, b',
        '--pattern',
        'x',
      ],
      {
        method: 'POST',
        url: '/api/v1/ai/playbooks',
        body: {
          name: 'p',
          text: readFileSync(path.join(import.meta.dirname, '../../docs/adr/README.md'), 'utf8'),
          selector: { services: ['a', 'b'], pattern: 'x' },
        },
      },
    ],
    [['playbooks', 'delete', 'a/b'], { method: 'DELETE', url: '/api/v1/ai/playbooks/a%2Fb', body: null }],
    [['playbooks', 'list'], { method: 'GET', url: '/api/v1/ai/playbooks?limit=1000', body: null }],
    [['projects', 'list'], { method: 'GET', url: '/api/v1/account/projects?limit=1000', body: null }],
  ];
  for (const [argv, request] of cases)
    it(argv.join(' '), async () => {
      const isDeletion = argv[1] === 'delete';
      const item = { id: 'i1', name: 'n1', scopes: ['read'], columns: [], labels: {} };
      const { code, to } = await run(argv, isDeletion ? 204 : 200, argv[1] === 'list' ? { items: [item] } : item);
      expect(code, to.stderr).to.equal(0);
      expect(sent).to.deep.equal([request]);
      expect(to.stdout).to.contain(isDeletion ? 'deleted a/b' : 'n1');
    });

  it('reports what the service refuses', async () => {
    const { code, to } = await run(['projects', 'create', '--name', 'x'], 403, {
      detail: 'For this account multi-project is not enabled.',
    });
    expect(code).to.equal(3);
    expect(to.stderr).to.contain('multi-project is not enabled');
  });

  for (const argv of [
    ['keys'],
    ['saved', 'delete'],
    ['projects', 'list', 'more'],
    ['projects', 'create', '--labels', 'x'],
    ['playbooks', 'create', '--name', 'x'],
    ['playbooks', 'create', '--file', '/no/such/file'],
  ])
    it(`refuses ${argv.join(' ')}, and sends nothing`, async () => {
      expect((await run(argv)).code).to.equal(2);
      expect(sent).to.deep.equal([]);
    });

  it('prints what a tenant uses, and no control character of it', async () => {
    const body = {
      days: [
        {
          day: '2026-11-21',
          bytes: 5,
          pending_bytes: 0,
          included_bytes: null,
          ceiling_bytes: null,
          over_bytes: 0,
          cost: 0,
          signals: { logs: 5 },
        },
      ],
      keys: [],
      services: [{ service: 'we\u001b[31mb', entries: 2 }],
      refused: [
        {
          signal: 'logs',
          status: 429,
          error: 'rate_limited',
          requests: 3,
          entries: 0,
          last_at: '2026-11-21T01:02:03.000Z',
          reason: 'Too\u0007 many.',
        },
      ],
      limits: [{ name: 'daily_volume', unit: 'bytes', limit: 7, used: 5, clears_at: '2026-11-22T00:00:00.000Z', clears: 'At 00:00 UTC.' }],
    };
    const { code, to } = await run(['usage', '--day', '2026-11-21'], 200, body);
    expect(code).to.equal(0);
    expect(sent.map(({ url }) => url)).to.deep.equal([`${TENANT}/usage?day=2026-11-21`]);
    expect(to.stdout).to.include('logs=5').and.include('rate_limited').and.include('daily_volume').and.not.include('KEY_ID');
    // oxlint-disable-next-line no-control-regex
    expect(to.stdout).not.to.match(/[\u0000-\u0009\u000b-\u001f]/);
    expect((await run(['usage', '--json'], 200, body)).to.stdout).to.equal(`${JSON.stringify(body)}\n`);
  });
});
