/** A line that this tab sends, and how long it takes until it is found. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../base/action.ts';
import { request } from '../base/api.ts';
import { duration } from '../base/format.ts';
import { hrefOf, route } from '../base/route.ts';
import { pause } from '../base/tries.ts';
import { Button } from '../components/controls.tsx';
import { Panel } from '../components/panel.tsx';
import { Pending, Refusal } from '../components/states.tsx';
import { errorOf } from '../../client/client.ts';
import { cannotSend, makeKey, sendingKey } from '../start/sending-key.ts';

type Found = { readonly id: string; readonly accepted: number; readonly searchable: number | null };
const EVERY_MS = 200;

/** Sends a line, and looks for it until it is there. */
async function run(on: AbortSignal, onStep: (found: Found) => void): Promise<void> {
  const key = sendingKey.peek() ?? (await makeKey(on));
  const id = crypto.randomUUID();
  const began = performance.now();
  const time = new Date().toISOString();
  const body = { _time: time, service: 'logweir-test', level: 'info', _msg: `a test line ${id}`, test_id: id };
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  // the typed client has what is asked, not what is sent
  const response = await fetch('/api/v1/ingest', { method: 'POST', signal: on, credentials: 'omit', headers, body: JSON.stringify(body) });
  if (!response.ok) throw await errorOf(response);
  const accepted = performance.now() - began;
  onStep({ id, accepted, searchable: null });
  for (;;) {
    const answer = await request('POST /search', { body: { query: `test_id:="${id}"`, start: time, limit: 1 } }, on);
    if ('logs' in answer && answer.logs.length > 0) break;
    await pause(EVERY_MS, on);
    on.throwIfAborted();
  }
  onStep({ id, accepted, searchable: performance.now() - began });
}

export function TestLine(): JSX.Element {
  const [found, setFound] = useState<Found | null>(null);
  const sending = useAction(
    (_given: void, on) => {
      setFound(null);
      return run(on, setFound);
    },
    { stopped: 'It is looked for no longer.', endsWithPage: true },
  );
  const { isBusy, start } = sending;
  const reason = cannotSend();
  return (
    <Panel title="Try it">
      <p class="muted">This tab sends one line of the service logweir-test, and looks for it.</p>
      <div class="row-of" style={{ flexWrap: 'wrap' }}>
        <Button reason={reason ?? (isBusy ? 'It is looked for.' : null)} onClick={() => start()} testId="send-test">
          Send a test line
        </Button>
        <span role="status" data-test="test-line">
          {found === null ? null : `accepted after ${duration(found.accepted)}`}
          {found === null ? null : found.searchable === null ? ', looked for …' : `, found after ${duration(found.searchable)}`}
        </span>
        <Pending of={sending} />
        {found === null || found.searchable === null ? null : (
          <a href={hrefOf(route.value.tenant, 'explore', { q: `test_id:="${found.id}"`, from: '-15m' })}>Open it in Explore</a>
        )}
      </div>
      <Refusal of={sending} />
    </Panel>
  );
}
