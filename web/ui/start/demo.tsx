/** The demo: by a button, in this tab; or by a command, where Logweir is installed. */
import type { JSX } from 'preact';
import { useAction } from '../base/action.ts';
import { count } from '../base/format.ts';
import { hrefOf, route } from '../base/route.ts';
import { session } from '../base/session.ts';
import { Button } from '../components/controls.tsx';
import { ErrorNote, Pending, Refusal } from '../components/states.tsx';
import { copy } from '../components/toasts.tsx';
import { demoRun, startDemo, stopDemo } from './demo-run.ts';
import { cannotSend, makeKey, sendingKey } from './sending-key.ts';

/** `onAgain`: goes on where it failed. */
function Run({ onAgain }: { readonly onAgain: () => void }): JSX.Element {
  const { state, part, sent, waits, error } = demoRun.value;
  const { tenant } = route.value;
  return (
    <div class="demo-run" data-test="demo-run">
      {state === 'past' ? <progress max={1} value={part} aria-label="The shop’s last hours" /> : null}
      <p role="status">
        {state === 'past' ? `Sending the shop’s last hours: ${count(sent)} entries …` : null}
        {state === 'live' ? 'The shop runs, and something has gone wrong in it.' : null}
        {state === 'failed' ? `The demo has halted after ${count(sent)} entries.` : null}
      </p>
      {waits === null ? null : <p class="cap">The service is busy: it is sent again in {waits} s.</p>}
      {state === 'live' ? <p class="muted">Its first alert comes within a minute. The shop runs as long as this tab is open.</p> : null}
      {error === null ? null : <ErrorNote error={error} onAgain={onAgain} byHand />}
      <div class="row-of">
        {state === 'live' ? (
          <a class="btn primary" href={hrefOf(tenant, 'alerts')}>
            Find out what
          </a>
        ) : null}
        <Button onClick={stopDemo}>Stop the demo</Button>
      </div>
    </div>
  );
}

export function Demo(): JSX.Element {
  const tenant = session.value?.known.tenant_id ?? 1;
  const command = `npx --no-install logweir demo --url ${location.origin} --tenant ${String(tenant)} --key `;
  const key = sendingKey.value;
  const reason = cannotSend();
  const withKey = useAction(async (use: (key: string) => void, signal) => use(key ?? (await makeKey(signal))));
  const start = (): void => withKey.start(startDemo);
  return (
    <section class="panel" aria-label="Demo">
      <h2 class="title">Or watch a made-up shop go wrong</h2>
      <p class="muted">
        The demo sends the last hours of a shop, in which a release has just gone wrong. Alerts come by themselves, and tell why: the cause
        is two presses away.
      </p>
      {demoRun.value.state === 'off' ? (
        <div class="row-of" style={{ flexWrap: 'wrap' }}>
          <Button kind="primary" reason={reason} onClick={start} testId="start-demo">
            Start the demo
          </Button>
          <Button reason={reason} onClick={() => withKey.start((own) => void copy(command + own, 'Command with a key'))}>
            Copy the command in place of it
          </Button>
          <Pending of={withKey} />
        </div>
      ) : (
        <Run onAgain={start} />
      )}
      <Refusal of={withKey} />
    </section>
  );
}
