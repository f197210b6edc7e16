import { expect } from 'chai';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { main } from '../../cli/main.ts';
import { EXIT, plain } from '../../cli/output.ts';
import { placedSpans, type ShownSpan } from '../../cli/span-tree.ts';
import { lengthText, spanLine } from '../../cli/trace.ts';
import { CapturedOutput } from '../fakes/captured-output.ts';

const span = (id: string, parentId = '', start = 0, more: Partial<ShownSpan> = {}): ShownSpan => ({
  ...{ id, parentId, service: 'web', name: `n-${id}`, kind: 1, start: BigInt(start), duration: 1_500_000n, isError: false, message: '' },
  ...more,
});
const tree = (spans: readonly ShownSpan[]): readonly (readonly [string, number, string])[] =>
  placedSpans(spans).map(({ span: { id, kind }, depth, note }) => [`${id}${kind === 1 ? '' : String(kind)}`, depth, note]);

describe('logweir trace', () => {
  it('places children by time behind their parents', () => {
    expect(tree([span('c', 'a', 3), span('b', 'a', 2), span('d', 'b', 9), span('a', '', 1)])).to.deep.equal([['a', 0, ''], ['b', 1, ''], ['d', 2, ''], ['c', 1, '']]); // prettier-ignore
  });

  it('shows orphans and circles at the top, each span once', () => {
    expect(tree([span('a', 'x'), span('b', 'a', 1)])).to.deep.equal([
      ['a', 0, 'its parent x is not there'],
      ['b', 1, ''],
    ]);
    expect(tree([span('a', 'b', 1), span('b', 'c', 2), span('c', 'a', 3), span('d', 'd', 0)])).to.deep.equal([['d', 0, 'its parents go in a circle'], ['a', 0, 'its parents go in a circle'], ['c', 1, ''], ['b', 2, '']]); // prettier-ignore
  });

  it('places a server that shares the id of its client below it', () => {
    expect(tree([span('a', '', 0, { kind: 3 }), span('a', '', 1, { kind: 2 }), span('b', 'a', 2)])).to.deep.equal([['a3', 0, ''], ['a2', 1, ''], ['b', 2, '']]); // prettier-ignore
  });

  it('is as deep as a trace', () => {
    expect(tree(Array.from({ length: 20_000 }, (_none, index) => span(String(index), String(index - 1), index))).at(-1)).to.deep.equal([
      '19999',
      19_999,
      '',
    ]);
  });

  it('prints a span in a line', () => {
    const placed = { span: span('a', '', 12_000_000, { isError: true, message: 'no\u001b[2J', kind: 2 }), depth: 1, note: 'x' };
    expect(plain(spanLine(placed, 0n))).to.equal('    +12ms     1.5ms   web n-a server ERROR no\\u001b[2J (x)');
    for (const [length, text] of [[0n, '0ns'], [850n, '850ns'], [12_500n, '12.5µs'], [123_456_789n, '123ms'], [1_250_000_000n, '1.25s'], [3_600_000_000_000n, '3600s']] as const) expect(lengthText(length)).to.equal(text); // prettier-ignore
  });

  it('asks for the trace and its log, and shows entries below their spans', async () => {
    const id = 'a'.repeat(32);
    const otlp = (spanId: string, parentSpanId: string, at: number): object => ({ spanId, parentSpanId, name: `n-${spanId}`, kind: 2, startTimeUnixNano: String(1_795_003_200_000_000_000n + BigInt(at)), endTimeUnixNano: String(1_795_003_200_100_000_000n) }); // prettier-ignore
    const trace = JSON.stringify({ resourceSpans: [{ resource: { attributes: [{ key: 'service.name', value: { stringValue: 'web' } }] }, scopeSpans: [{ spans: [otlp('b', 'a', 10_000_000), otlp('a', '', 0)] }] }] }); // prettier-ignore
    const log = (message: string, spanId: string): object => ({ _time: '2026-11-18T12:00:00.020Z', _msg: message, level: 'info', trace_id: id, span_id: spanId }); // prettier-ignore
    const asked: string[] = [];
    const server = http.createServer(({ url: path = '' }, response) => {
      asked.push(path);
      if (path.includes('/none')) response.writeHead(404).end('{"detail":"There is no trace."}');
      else response.end(path.includes('/logs') ? JSON.stringify({ logs: [log('later', 'z'), log('below', 'b')] }) : trace);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const env = { LOGWEIR_URL: `127.0.0.1:${String((server.address() as AddressInfo).port)}`, LOGWEIR_API_KEY: 'k', NO_COLOR: '1' };
    const run = async (...argv: string[]): Promise<{ readonly code: number; readonly out: string }> => {
      const to = new CapturedOutput({ isTerminal: false });
      const code = await main(['trace', ...argv], env, to);
      return { code, out: to.stdout };
    };
    try {
      expect(await run(id, '--logs', '--output', 'lines')).to.deep.equal({
        code: EXIT.ok,
        out: [
          '2026-11-18T12:00:00Z 100ms, 2 spans, 0 errors',
          '     +0ns     100ms web n-a server',
          '    +10ms      90ms   web n-b server',
          '    +20ms               · INFO  below',
          '    +20ms             · INFO  later',
          '',
        ].join('\n'),
      });
      expect(await run(id, '--output', 'json')).to.deep.equal({ code: EXIT.ok, out: `${trace}\n` });
      expect(asked).to.deep.equal([
        `/api/v1/tenants/1/traces/${id}`,
        `/api/v1/tenants/1/traces/${id}/logs?limit=10000`,
        `/api/v1/tenants/1/traces/${id}`,
      ]);
      expect((await run('none')).code).to.equal(EXIT.failed);
      expect((await run()).code).to.equal(EXIT.usage);
      expect((await run(id, '--output', 'csv')).code).to.equal(EXIT.usage);
    } finally {
      server.close();
    }
  });
});
