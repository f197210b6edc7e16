import { expect } from 'chai';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Endpoint } from '../../../api/http/endpoint.ts';
import { UnsentAnswers } from '../../../api/http/unsent-answers.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { eventually } from '../../fakes/eventually.ts';
import { startHost } from '../../fakes/test-host.ts';

/** An answer with so many bytes that wait, and what the system has not taken of the last write. */
class FakeAnswer {
  isCut = false;
  readonly req = { socket: { destroy: () => (this.isCut = true) } };
  readonly socket = { _handle: { writeQueueSize: 0 } };
  readonly owner: number | null;
  writableLength: number;

  constructor(owner: number | null, bytes: number) {
    this.owner = owner;
    this.writableLength = bytes;
  }
}

describe('answers that nobody takes', () => {
  let now = 0;
  const cuts: string[] = [];
  const watch = (): { look: (...open: FakeAnswer[]) => string } => {
    [now, cuts.length] = [0, 0];
    const answers = new UnsentAnswers({
      silentMs: 1000,
      maxBytes: 400,
      ownerOf: (answer) => (answer as unknown as FakeAnswer).owner,
      onCut: (reason) => cuts.push(reason),
      now: () => now,
    });
    return {
      look: (...open) => {
        answers.look(new Set(open.filter(({ isCut }) => !isCut)) as unknown as ReadonlySet<ServerResponse>);
        return open.map(({ isCut }) => (isCut ? 'x' : '-')).join('');
      },
    };
  };

  it('are cut off when nothing has moved for so long', () => {
    const { look } = watch();
    const [still, slow, large, done] = [new FakeAnswer(1, 10), new FakeAnswer(2, 10), new FakeAnswer(3, 10), new FakeAnswer(4, 10)];
    expect(look(still, slow, large, done)).to.equal('----');
    done.writableLength = 0;
    for (let i = 0; i < 4; i++) {
      now += 300;
      slow.writableLength -= 1;
      large.socket._handle.writeQueueSize += 1;
      expect(look(still, slow, large, done)).to.equal(i < 3 ? '----' : 'x---');
    }
    now += 2000;
    expect(look(still, slow, large, done)).to.equal('xxx-');
    expect(cuts).to.deep.equal(['silent', 'silent', 'silent']);
  });

  it('of one owner take a quarter at most; the one that has waited longest is cut off first', () => {
    const { look } = watch();
    const [first, second, third, other] = [new FakeAnswer(1, 40), new FakeAnswer(1, 40), new FakeAnswer(1, 40), new FakeAnswer(2, 90)];
    expect(look(second)).to.equal('-');
    now += 1;
    expect(look(first, second, other)).to.equal('---');
    now += 1;
    expect(look(first, second, third, other)).to.equal('-x--');
    expect(cuts).to.deep.equal(['budget']);
  });

  it('have a bound together, which those with most come to first; one alone is sent however large it is', () => {
    const { look } = watch();
    const large = new FakeAnswer(9, 5000);
    expect(look(large)).to.equal('-');
    const many = Array.from({ length: 5 }, (_, owner) => new FakeAnswer(owner, 90));
    expect(look(large, ...many)).to.equal('xx----');
    expect(look(...many)).to.equal('x----');
  });
});

describe('a client that does not read', () => {
  const BODY = 'x'.repeat(15_000_000);
  const endpoint = (path: string): Endpoint => ({
    methods: ['GET'],
    path,
    errors: 'query',
    access: { plane: 'app', scope: 'read' },
    handle: () => Promise.resolve({ status: 200, body: BODY }),
  });
  const GET = 'GET /large HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer all\r\n\r\n';

  it('has its connection closed, and one that reads slowly has not', async () => {
    const metrics = new Metrics('test');
    const host = await startHost({ endpoints: [endpoint('/large')], metrics, unsent: { silentMs: 3000 } });
    const [deaf, slow] = [connect(host.port, '127.0.0.1'), connect(host.port, '127.0.0.1')];
    let read = 0;
    slow.on('data', (bytes: Buffer) => {
      read += bytes.length;
      slow.pause();
      setTimeout(() => slow.resume(), 10);
    });
    deaf.pause();
    deaf.on('error', () => undefined);
    for (const socket of [deaf, slow]) socket.write(GET);
    const cut = async (): Promise<boolean> =>
      (await metrics.registry.metrics()).includes('cut_answers_total{reason="silent",role="test"} 1');
    while (!(await cut())) await new Promise((resolve) => setTimeout(resolve, 50));
    // it learns of it when it reads
    deaf.resume();
    await once(deaf, 'close');
    slow.removeAllListeners('data').on('data', (bytes: Buffer) => (read += bytes.length));
    slow.resume();
    await eventually('the whole answer', () => read, (bytes) => bytes > BODY.length); // prettier-ignore
    slow.destroy();
    await host.stop();
  }).timeout(60_000);
});
