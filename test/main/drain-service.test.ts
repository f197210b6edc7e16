import { expect } from 'chai';
import { drainService } from '../../main/drain-service.ts';

/** An entrance whose hosts note what happens to them. */
function made(drainMs: number): {
  readonly service: ReturnType<typeof drainService>;
  readonly events: string[];
  readonly hurry: AbortController;
} {
  const events: string[] = [];
  const host = (name: string): { drain(): void; stop(): Promise<void> } => ({
    drain: () => void events.push(`${name} drains`),
    stop: () => {
      events.push(`${name} stops`);
      return Promise.reject(new Error('this is told to whoever stops the services'));
    },
  });
  const hurry = new AbortController();
  const mark = (open: boolean): void => void events.push(open ? 'ready' : 'not ready');
  return { service: drainService({ hosts: [host('ingest'), host('app')], drainMs, hurry: hurry.signal, mark }), events, hurry };
}

describe('the entrance of a process', () => {
  it('says that it goes, waits, and closes all hosts at once', async () => {
    const { service, events } = made(50);
    await service.start();
    const began = performance.now();
    const stopped = service.stop();
    expect(events).to.deep.equal(['ready', 'not ready', 'ingest drains', 'app drains']);
    await stopped;
    expect(performance.now() - began).to.be.at.least(45);
    expect(events.slice(4)).to.deep.equal(['ingest stops', 'app stops']);
  });

  it('waits for nobody where its supervisor is gone, nor before it was open', async () => {
    const { service, events, hurry } = made(60_000);
    await service.stop();
    await service.start();
    const stopped = service.stop();
    hurry.abort();
    await stopped;
    expect(events.slice(-2)).to.deep.equal(['ingest stops', 'app stops']);
  });
});
