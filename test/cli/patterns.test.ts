import { expect } from 'chai';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { diffLine, patternLine, patternsCommand, sparkline } from '../../cli/patterns.ts';
import { EXIT, plain } from '../../cli/output.ts';

const pattern = {
  ...{ fingerprint: 'ab'.repeat(32), normalized_message: 'took <N>\u001b[2J', level: 'error', count: 12, is_new: true },
  ...{ first_seen: '2026-01-01T00:00:00Z', last_seen: '2026-01-01T00:00:00Z', trend: [0, 1, 2, 8] },
};

describe('logweir patterns', () => {
  it('prints a pattern in a line, with a picture of when it came', () => {
    const line = plain(patternLine(pattern));
    expect(line).to.match(/^ {7}12 {2}▁▂█ error abababababab new took <N>/);
    expect(line).not.to.include('\u001b[2J');
  });

  it('prints what became of a pattern', () => {
    const line = plain(diffLine('gone', { ...pattern, a: 5, b: 0, expected: 5 }));
    expect(line).to.match(/^GONE {12}5 → 0 +abababababab took <N>/);
  });

  it('draws numbers as bars', () => {
    expect(sparkline([])).to.equal('');
    expect(sparkline([0, 0])).to.equal('  ');
    expect(sparkline([1, 1000])).to.equal('▁█');
    expect(sparkline([1])).to.equal('█');
  });

  it('asks for what the flags say', async () => {
    const asked: string[] = [];
    const server = http.createServer(({ url: path = '' }, response) => {
      asked.push(path);
      const changed = { ...pattern, a: 0, b: 1, expected: 0 };
      response.end(JSON.stringify(path.includes('/diff') ? { new: [changed], gone: [], changed: [] } : { patterns: [pattern] }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const out: string[] = [];
    const output = { isTerminal: false, out: (text: string) => void out.push(text), err: () => undefined };
    const run = (...argv: string[]): Promise<number> => patternsCommand([...argv, '--url', url, '--key', 'k'], {}, output);
    try {
      expect(await run('--since', '-2h', '--search', 'a b')).to.equal(EXIT.ok);
      expect(await run('--diff', '--a', '-4h..-2h', '--limit', '5')).to.equal(EXIT.ok);
    } finally {
      server.close();
    }
    expect(asked).to.deep.equal([
      '/api/v1/tenants/1/patterns?limit=20&since=-2h&search=a+b',
      '/api/v1/tenants/1/patterns/diff?limit=5&a=-4h..-2h',
    ]);
    expect(out.map((line) => (JSON.parse(line) as { fingerprint: string }).fingerprint)).to.deep.equal([
      pattern.fingerprint,
      pattern.fingerprint,
    ]);
  });
});
