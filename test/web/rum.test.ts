import { expect } from 'chai';
import { eventually } from '../fakes/eventually.ts';

/** What is tested of the recorder's `Rum`; it is written for browsers, whose types tests do not have. */
type Page = { add(event: Event): void; flush(): Promise<void>; leave(): void; retry(): void };
type Event = { readonly level: 'error'; readonly message: string };
type Options = { readonly url: string; readonly key: string; readonly labels: () => object; readonly masks: readonly RegExp[] };
type Module = { readonly Rum: new (options: Options) => Page };
const FILE = new URL('../../web/replay-recorder/rum.ts', import.meta.url).href;

type Sent = { readonly messages: readonly string[]; readonly keepalive: boolean | undefined; answer(status: number): void };

describe('entries of a page', () => {
  const realFetch = globalThis.fetch;
  const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  let isOnline: boolean;
  let sent: Sent[];
  let Rum: Module['Rum'];
  before(async () => {
    ({ Rum } = (await import(FILE)) as Module);
  });
  beforeEach(() => {
    sent = [];
    isOnline = true;
    Object.defineProperty(globalThis, 'navigator', { configurable: true, get: () => ({ onLine: isOnline }) });
    globalThis.fetch = (_url, { body, keepalive } = {}) =>
      new Promise((resolve) => {
        const lines = Buffer.from(body as Uint8Array).toString().trim().split('\n'); // prettier-ignore
        const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
        sent.push({ messages, keepalive, answer: (status) => resolve(new Response(null, { status })) });
      });
  });
  after(() => {
    globalThis.fetch = realFetch;
    if (navigator === undefined) Reflect.deleteProperty(globalThis, 'navigator');
    else Object.defineProperty(globalThis, 'navigator', navigator);
  });

  const event = (message: string): Event => ({ level: 'error', message });
  const rum = (): Page => new Rum({ url: 'http://h', key: 'k', labels: () => ({}), masks: [] });
  const messages = (): readonly (readonly string[])[] => sent.map((one) => one.messages);
  /** Waits until so many requests were sent. */
  const requests = (count: number): Promise<unknown> =>
    eventually('the requests', () => sent.length, (length) => length === count); // prettier-ignore

  it('are sent one request after the other', async () => {
    const page = rum();
    page.add(event('a'));
    await page.flush();
    await requests(1);
    page.add(event('b'));
    await page.flush();
    expect(messages()).to.deep.equal([['a']]);
    sent[0]?.answer(200);
    await requests(2);
    sent[1]?.answer(200);
    expect(messages()).to.deep.equal([['a'], ['b']]);
  });

  it('are sent at once where the page leaves while others are on their way, each once', async () => {
    const page = rum();
    page.add(event('a'));
    await page.flush();
    await requests(1);
    page.add(event('b'));
    page.leave();
    expect(messages()).to.deep.equal([['a'], ['b']]);
    expect(sent[1]?.keepalive).to.equal(true);
    for (const one of sent) one.answer(200);
    page.leave();
    page.add(event('c'));
    await page.flush();
    await requests(3);
    expect(messages()).to.deep.equal([['a'], ['b'], ['c']]);
    sent[2]?.answer(200);
  });

  it('are sent again by a page that came back, where they did not arrive', async () => {
    const page = rum();
    page.add(event('a'));
    page.leave();
    sent[0]?.answer(503);
    await eventually('the entry', () => (page.retry(), messages().length), (count) => count === 2); // prettier-ignore
    expect(messages()).to.deep.equal([['a'], ['a']]);
    sent[1]?.answer(200);
  });

  it('are kept, and not sent, where a page without a network leaves', async () => {
    const page = rum();
    isOnline = false;
    page.add(event('a'));
    page.leave();
    expect(messages()).to.deep.equal([]);
    isOnline = true;
    await eventually('the entry', () => (page.retry(), messages().length), (count) => count === 1); // prettier-ignore
    sent[0]?.answer(200);
  });

  it('are neither kept nor sent once the key is refused', async () => {
    const page = rum();
    page.add(event('a'));
    page.leave();
    sent[0]?.answer(403);
    await new Promise((resolve) => setImmediate(resolve));
    page.add(event('b'));
    page.leave();
    await page.flush();
    page.retry();
    await new Promise((resolve) => setImmediate(resolve));
    expect(messages()).to.deep.equal([['a']]);
  });
});
