/** How to send, what comes, and what was refused. */
import '../style/alerts.css';
import '../style/usage.css';
import type { JSX } from 'preact';
import { useAction } from '../base/action.ts';
import { route, setParams } from '../base/route.ts';
import { lacks } from '../base/session.ts';
import { Button } from '../components/controls.tsx';
import { Panel } from '../components/panel.tsx';
import { Pending, Refusal } from '../components/states.tsx';
import { copy } from '../components/toasts.tsx';
import { cannotSend, makeKey, sendingKey } from '../start/sending-key.ts';
import { masked } from '../start/snippets.ts';
import { Arriving } from './arriving.tsx';
import { Rejections } from './rejections.tsx';
import { TestLine } from './test-line.tsx';
import { WAYS, type Way } from './ways.ts';

/** The snippet that is chosen; the key is in its copy alone. */
function Chosen({ way }: { readonly way: Way }): JSX.Element {
  const key = sendingKey.value;
  const reason = cannotSend();
  const copying = useAction(async (_given: void, signal) =>
    copy(way.text(location.origin, key ?? (await makeKey(signal))), 'Snippet with your key'),
  );
  return (
    <div class="way stack">
      <pre class="snippet mono" tabIndex={0} role="region" aria-label={`To send with ${way.name}`}>
        {way.text(location.origin, key === null ? 'YOUR_KEY' : masked(key))}
      </pre>
      <div class="row-of" style={{ flexWrap: 'wrap' }}>
        <Button kind="primary" testId="copy-way" reason={reason} onClick={() => copying.start()}>
          {key === null ? 'Copy with a new key' : 'Copy with the key'}
        </Button>
        <Pending of={copying} />
        <span class="cap">
          {key === null ? 'A key that may only send, for a day, is made and copied with it.' : 'The key is hidden here; the copy has it.'}
        </span>
      </div>
      <Refusal of={copying} />
    </div>
  );
}

export default function Ingest(): JSX.Element {
  const id = route.value.params.get('with') ?? '';
  const way = WAYS.find((one) => one.id === id) ?? WAYS[0];
  const reason = lacks('read', 'tenant');
  return (
    <div class="page-pad ingest">
      <Panel title="How to send" note={`to ${location.origin}`}>
        <div class="ingest-ways">
          <div class="way-list" role="group" aria-label="Ways to send">
            {WAYS.map((one) => (
              <button
                key={one.id}
                type="button"
                aria-pressed={one.id === way?.id}
                onClick={() => setParams({ with: one.id === WAYS[0]?.id ? null : one.id }, { isReplaced: true })}
              >
                {one.name}
              </button>
            ))}
          </div>
          {way === undefined ? null : <Chosen way={way} />}
        </div>
      </Panel>
      <TestLine />
      {reason === null ? (
        <>
          <Arriving />
          <Rejections />
        </>
      ) : (
        <Panel title="What comes, and what was refused">
          <p class="muted">{reason}</p>
        </Panel>
      )}
    </div>
  );
}
