import type { Arena, Host, SocketAttack, Target } from './attack.ts';
import { LARGE, SMALL } from './attack.ts';
import { frameOf, head, post, upgrade } from './http-bytes.ts';

const MIB = 1024 * 1024;

const query = (name: string, open: (arena: Arena) => void): SocketAttack => ({ name, kind: 'query', open });
const ingest = (name: string, open: (arena: Arena) => void): SocketAttack => ({ name, kind: 'ingest', open });
const times = (count: number, work: (index: number) => void): void => {
  for (let index = 0; index < count; index++) work(index);
};

const search = (target: Target, asked: object): string =>
  post(target, `/api/v1/tenants/${String(target.tenantId)}/search`, JSON.stringify(asked));
/** An export: all entries, as lines. */
const lines = (target: Target, given: Readonly<Record<string, string>>, headers: readonly string[] = []): string =>
  head(target, 'GET', `/select/logsql/query?${new URLSearchParams(given).toString()}`, headers);
const upload = (target: Target, path: string, length: number): string =>
  head(target, 'POST', path, ['Content-Type: application/x-ndjson', `Content-Length: ${String(length)}`]);

/** Connections that are opened anew as soon as the one before is gone, so many at once. */
function again(arena: Arena, host: Host, count: number, sends: (target: Target) => string, lifeMs: number): void {
  const open = (): void => {
    arena.connect(host, { lifeMs }).write(sends(arena.target), 'latin1');
  };
  times(count, open);
  arena.every(lifeMs, () => {
    times(count, open);
  });
}

/** WebSockets to which bytes are written once they are open, and then again and again. */
function sockets(arena: Arena, count: number, { first, then, everyMs }: { first: Buffer; then: Buffer; everyMs: number }): void {
  const all = Array.from({ length: count }, () => arena.connect('app'));
  const open = new Set<(typeof all)[number]>();
  for (const socket of all) {
    socket.setNoDelay(true);
    socket.write(upgrade(arena.target), 'latin1');
    socket.once('data', () => {
      socket.write(first);
      open.add(socket);
    });
    socket.once('close', () => open.delete(socket));
  }
  arena.every(everyMs, () => {
    for (const socket of open) if (socket.writableLength < MIB) socket.write(then);
  });
}
const repeated = (one: Buffer, count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => one));

/** What a tenant does with connections. */
export const CONNECTION_ATTACKS: readonly SocketAttack[] = [
  // answers that nobody reads
  query('unread-pages', (arena) => {
    times(64, () => arena.connect('app', { reads: false }).write(search(arena.target, { query: '*', ...LARGE, limit: 60 })));
  }),
  query('unread-exports', (arena) => {
    times(32, () => arena.connect('app', { reads: false }).write(lines(arena.target, { query: '*', ...SMALL })));
  }),
  query('unread-exports-compressed', (arena) => {
    times(32, () => arena.connect('app', { reads: false }).write(lines(arena.target, { query: '*', ...LARGE }, ['Accept-Encoding: gzip'])));
  }),
  query('unread-tails', (arena) => {
    const path = `/select/logsql/tail?query=*&start_offset=1h&refresh_interval=200ms`;
    times(40, () => arena.connect('app', { reads: false }).write(head(arena.target, 'GET', path)));
  }),
  query('unread-pipelined', (arena) => {
    times(16, () => {
      const socket = arena.connect('app', { reads: false });
      times(100, () => socket.write(search(arena.target, { query: '*', ...SMALL, limit: 10_000 })));
    });
  }),
  ingest('unread-bulk-answers', (arena) => {
    const body = '{"index":{}}\n1\n'.repeat(100_000);
    times(64, () => arena.connect('ingest', { reads: false }).write(post(arena.target, '/_bulk?items=true', body)));
  }),
  ingest('unread-pipelined-errors', (arena) => {
    const bad = post(arena.target, '/api/v1/ingest', '{');
    times(32, () => {
      const socket = arena.connect('ingest', { reads: false });
      times(2000, () => socket.write(bad));
    });
  }),
  query('slow-readers', (arena) => {
    const sockets = Array.from({ length: 20 }, () => arena.connect('app', { reads: false }));
    for (const socket of sockets) socket.write(lines(arena.target, { query: '*', ...SMALL }));
    arena.every(100, () => {
      for (const socket of sockets) socket.read(1024);
    });
  }),
  query('clients-that-leave', (arena) => {
    again(arena, 'app', 40, (target) => search(target, { query: '* | sort by (_msg)', ...SMALL, limit: 100 }), 100);
  }),
  query('exports-that-are-left', (arena) => {
    again(arena, 'app', 20, (target) => lines(target, { query: '*', ...SMALL }), 300);
  }),

  // requests that do not end
  ingest('byte-uploads', (arena) => {
    times(80, () => arena.connect('ingest').write(`${upload(arena.target, '/api/v1/ingest', 2 * MIB)}{`));
  }),
  ingest('slow-uploads', (arena) => {
    const sockets = Array.from({ length: 300 }, () => arena.connect('ingest'));
    for (const socket of sockets) socket.write(upload(arena.target, '/api/v1/ingest', 2 * MIB));
    arena.every(100, () => {
      for (const socket of sockets) socket.write('{');
    });
  }),
  ingest('almost-whole-uploads', (arena) => {
    times(80, () => arena.connect('ingest').write(upload(arena.target, '/api/v1/ingest', 2 * MIB) + ' '.repeat(2 * MIB - 1)));
  }),
  ingest('slow-headers', (arena) => {
    const sockets = Array.from({ length: 1000 }, (_none, index) => arena.connect(index % 2 === 0 ? 'ingest' : 'app'));
    for (const socket of sockets) socket.write('POST /api/v1/ingest HTTP/1.1\r\n');
    arena.every(200, () => {
      for (const socket of sockets) socket.write('a');
    });
  }),
  ingest('chunks-of-a-byte', (arena) => {
    const sockets = Array.from({ length: 32 }, () => arena.connect('ingest'));
    for (const socket of sockets) socket.write(head(arena.target, 'POST', '/api/v1/ingest', ['Transfer-Encoding: chunked']));
    const chunks = '1\r\n{\r\n'.repeat(2000);
    arena.every(20, () => {
      for (const socket of sockets) if (socket.writableLength < MIB) socket.write(chunks);
    });
  }),
  ingest('chunk-extensions', (arena) => {
    times(64, () => {
      const socket = arena.connect('ingest');
      socket.write(head(arena.target, 'POST', '/api/v1/ingest', ['Transfer-Encoding: chunked']));
      times(100, () => socket.write(`1;${'e'.repeat(16_000)}\r\n{\r\n`));
    });
  }),
  ingest('expectations', (arena) => {
    const expects = ['Expect: 100-continue', `Content-Length: ${String(2 * MIB)}`];
    times(500, () => arena.connect('ingest').write(head(arena.target, 'POST', '/api/v1/ingest', expects)));
  }),
  query('search-bodies-that-wait', (arena) => {
    const path = `/api/v1/tenants/${String(arena.target.tenantId)}/search`;
    times(300, () => arena.connect('app').write(upload(arena.target, path, MIB) + ' '.repeat(MIB - 1)));
  }),

  // what is no HTTP
  ingest('pipelined-garbage', (arena) => {
    again(
      arena,
      'ingest',
      50,
      (target) => post(target, '/api/v1/ingest', '{"_msg":"x"}').repeat(50) + '\0\xff garbage \r\n'.repeat(5000),
      200,
    );
  }),
  query('pipelined-searches', (arena) => {
    again(arena, 'app', 10, (target) => search(target, { query: '*', ...SMALL, limit: 1 }).repeat(200), 500);
  }),
  query('pipelined-health', (arena) => {
    again(arena, 'app', 20, (target) => head(target, 'GET', '/health').repeat(2000), 500);
  }),
  ingest('smuggling', (arena) => {
    const both = ['Content-Length: 5', 'Transfer-Encoding: chunked'];
    again(arena, 'ingest', 50, (target) => `${head(target, 'POST', '/api/v1/ingest', both)}0\r\n\r\nGET /health HTTP/1.1\r\n\r\n`, 200);
  }),
  ingest('many-headers', (arena) => {
    const headers = Array.from({ length: 1900 }, (_none, index) => `h${String(index)}: ${'v'.repeat(20)}`);
    again(arena, 'ingest', 50, (target) => head(target, 'GET', '/health', headers), 200);
  }),
  ingest('headers-too-large', (arena) => {
    again(arena, 'ingest', 50, (target) => head(target, 'GET', '/health', [`x: ${'v'.repeat(MIB)}`]), 200);
  }),
  query('upgrades', (arena) => {
    again(arena, 'app', 100, upgrade, 200);
  }),
  query('h2c-offers', (arena) => {
    const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];
    again(arena, 'app', 100, (target) => head(target, 'GET', '/health', offer).repeat(20), 200);
  }),
  query('tls-hellos', (arena) => {
    again(arena, 'app', 100, () => `\x16\x03\x01${'\0'.repeat(500)}`, 200);
  }),

  // WebSockets
  query('socket-fragments', (arena) => {
    const more = frameOf('a', 0x00);
    sockets(arena, 200, { first: Buffer.concat([frameOf('a', 0x01), repeated(more, 15_900)]), then: more, everyMs: 1000 });
  }),
  query('socket-bytes', (arena) => {
    // a text of 127 KB, announced
    const first = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 1, 0xfc, 0, 0, 0, 0, 0]);
    sockets(arena, 100, { first, then: Buffer.from('a'), everyMs: 2 });
  }),
  query('socket-pongs', (arena) => {
    const pongs = repeated(frameOf('', 0x8a), 10_000);
    sockets(arena, 100, { first: pongs, then: pongs, everyMs: 20 });
  }),

  // connections
  query('idle-connections', (arena) => {
    times(3000, (index) => arena.connect(index % 2 === 0 ? 'ingest' : 'app'));
  }),
  query('new-connections', (arena) => {
    again(arena, 'app', 300, (target) => head(target, 'GET', '/health', ['Connection: close']), 200);
  }),
];
