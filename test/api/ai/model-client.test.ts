import { expect } from 'chai';
import { ModelClient, type ModelClientOptions } from '../../../api/ai/model-client.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { ModelServer, STAND_IN, type Behaviour } from '../../ai/model-server.ts';

const KEY = 'sk-of-the-operator-1234567890';
const never = new AbortController().signal;
type Answered = { readonly text: string; readonly ended: string } | { readonly status: number; readonly message: string };

describe('the client of a model', function () {
  this.timeout(20_000);
  const server = new ModelServer();
  let url: string;
  before(async () => {
    url = await server.start();
  });
  after(() => server.stop());

  const clientOf = (more: Partial<ModelClientOptions> = {}): ModelClient =>
    new ModelClient({ access: { url, key: KEY, model: STAND_IN }, ...more });
  const ask = async (behaviour: Behaviour, client = clientOf(), signal = never): Promise<Answered> => {
    server.behave = () => behaviour;
    let text = '';
    try {
      const pieces = await client.ask([{ role: 'user', content: 'hello' }], signal);
      for (;;) {
        const next = await pieces.next();
        if (next.done === true) return { text, ended: next.value };
        text += next.value;
      }
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return { status: error.status, message: error.message };
    }
  };

  it('reads a stream, and an answer that is none', async () => {
    const words = ['This is ', 'a stand-in ', 'for tests: ', 'ü€😀'];
    for (const whole of [{}, { isWhole: true } as const])
      expect(await ask({ words, ...whole })).to.deep.equal({ text: words.join(''), ended: 'complete' });
  });

  it('sends model, messages and key, and offers no tool', async () => {
    await ask({ words: ['x'] });
    const { path, authorization, body } = server.asked.at(-1) ?? {};
    expect(path).to.equal('/v1/chat/completions');
    expect(authorization).to.equal(`Bearer ${KEY}`);
    expect(body).to.deep.equal({
      model: STAND_IN,
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
      temperature: 0,
      max_tokens: 2000,
    });
    expect(body).not.to.have.any.keys('tools', 'functions');
  });

  it('cuts what is longer than an answer may be, and says what the model cut', async () => {
    const long = await ask({ words: Array.from({ length: 30 }, () => 'x'.repeat(1000)) });
    expect(long).to.deep.equal({ text: 'x'.repeat(20_000), ended: 'cut' });
    expect(await ask({ words: ['half a sen'], finish: 'length' })).to.deep.equal({ text: 'half a sen', ended: 'cut' });
  });

  const failures: [what: string, behaviour: Behaviour, status: number, message: RegExp][] = [
    ['a refused key', { status: 401 }, 502, /^The model refused the key of this deployment\.$/],
    ['a forbidden key', { status: 403 }, 502, /refused the key/],
    ['an unknown model', { status: 404 }, 502, /name of the model is wrong/],
    ['too many requests', { status: 429 }, 502, /takes no more requests right now/],
    ['a fault', { status: 500 }, 502, /^The model failed \(its status was 500\)\.$/],
    ['a gateway that waited too long', { status: 504 }, 504, /took too long/],
    ['a redirect to another host', { status: 302, location: 'http://127.0.0.1:9/v1/chat/completions' }, 502, /cannot be reached/],
    ['no words', { words: [] }, 502, /answered nothing/],
    ['a stream that breaks off', { words: ['a', 'b'], isCutOff: true }, 502, /broke off/],
    ['a stream without its end', { raw: 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n' }, 502, /broke off/],
    ['what is not JSON', { raw: 'data: {nonsense\n\n' }, 502, /failed while it answered/],
    ['an HTML page', { raw: '<html>', type: 'text/html' }, 502, /failed while it answered/],
    [
      'an error in the stream',
      { raw: 'data: {"error":{"message":"secret sk-of-the-operator-1234567890"}}\n\n' },
      502,
      /failed while it answered/,
    ],
    ['null', { raw: 'null', type: 'application/json' }, 502, /failed while it answered/],
    ['members of other types', { raw: '{"choices":7}', type: 'application/json' }, 502, /answered nothing/],
    ['hostile members', { raw: '{"choices":[null],"__proto__":{"x":1}}', type: 'application/json' }, 502, /answered nothing/],
    ['an event without an end', { raw: `data: ${'x'.repeat(1_200_000)}` }, 502, /too large/],
    ['a page without an end', { raw: 'x'.repeat(1_200_000), type: 'application/json' }, 502, /too large/],
  ];
  for (const [what, behaviour, status, message] of failures)
    it(`answers ${what} with ${String(status)} and a sentence that repeats nothing of it`, async () => {
      const answered = await ask(behaviour);
      expect(answered).to.include({ status });
      expect('message' in answered && answered.message).to.match(message);
      expect(JSON.stringify(answered)).not.to.contain(KEY);
    });

  it('ends with 504 where the first word, or the last one, does not come', async () => {
    expect(await ask({ silent: true }, clientOf({ firstWaitMs: 50 }))).to.include({ status: 504 });
    const hold = new Promise(() => undefined);
    expect(await ask({ words: ['a', 'b'], hold }, clientOf({ wholeMs: 300 }))).to.include({ status: 504 });
  });

  it('answers 502 where nothing listens', async () => {
    const nowhere = clientOf({ access: { url: 'http://127.0.0.1:9/v1', key: KEY, model: STAND_IN } });
    expect(await ask({ words: [] }, nowhere)).to.deep.equal({ status: 502, message: 'The model cannot be reached.' });
  });

  it('ends with its client', async () => {
    const client = new AbortController();
    const hold = new Promise(() => undefined);
    server.behave = () => ({ words: ['a', 'b'], hold });
    const pieces = await clientOf().ask([{ role: 'user', content: 'hello' }], client.signal);
    expect((await pieces.next()).value).to.equal('a');
    client.abort();
    const failed = await pieces.next().catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(HttpError).with.property('status', 499);
  });
});
