import { expect } from 'chai';
import { Rum, type RumEvent } from '../../web/replay-recorder/rum.ts';
import { eventually } from '../fakes/eventually.ts';

type Sent = { readonly messages: readonly string[]; readonly keepalive: boolean | undefined; answer(status: number): void };

describe('entries of a page', () => {
  const before = globalThis.fetch;
  let sent: Sent[];
  beforeEach(() => {
    sent = [];
    globalThis.fetch = (_url, { body, keepalive } = {}) =>
      new Promise((resolve) => {
        const lines = (body as string).trim().split('\n');
        const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
        sent.push({ messages, keepalive, answer: (status) => resolve(new Response(null, { status })) });
      });
  });
  after(() => {
    globalThis.fetch = before;
  });

  const event = (message: string): RumEvent => ({ level: 'error', message });
  const rum = (): Rum => new Rum({ url: 'http://h', key: 'k', labels: () => ({}), masks: [] });
  const messages = (): readonly (readonly string[])[] => sent.map((one) => one.messages);

  it('are sent one request after the other', async () => {
    const page = rum();
    page.add(event('a'));
    const first = page.flush();
    page.add(event('b'));
    await page.flush();
    expect(messages()).to.deep.equal([['a']]);
    sent[0]?.answer(200);
    await first;
    const second = page.flush();
    sent[1]?.answer(200);
    await second;
    expect(messages()).to.deep.equal([['a'], ['b']]);
  });

  it('are sent at once where the page leaves while others are on their way, each once', async () => {
    const page = rum();
    page.add(event('a'));
    const first = page.flush();
    page.add(event('b'));
    page.leave();
    expect(messages()).to.deep.equal([['a'], ['b']]);
    expect(sent[1]?.keepalive).to.equal(true);
    for (const one of sent) one.answer(200);
    await first;
    page.leave();
    expect(messages()).to.deep.equal([['a'], ['b']]);
  });

  it('are sent again by a page that came back, where they did not arrive', async () => {
    const page = rum();
    page.add(event('a'));
    page.leave();
    sent[0]?.answer(503);
    await eventually(
      'the entry',
      () => (page.leave(), messages().length),
      (count) => count === 2,
    );
    expect(messages()).to.deep.equal([['a'], ['a']]);
    sent[1]?.answer(200);
  });
});
