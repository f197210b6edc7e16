/** What else a trace has: its entries of all services, in their order. */
import type { JSX } from 'preact';
import { request, useRequest } from '../base/api.ts';
import { zone } from '../base/settings.ts';
import { clockOf } from '../base/time.ts';
import { Button } from '../components/controls.tsx';
import { Level } from '../components/data.tsx';
import { BusyBar, ErrorNote } from '../components/states.tsx';
import { exactly } from '../editor/tokens.ts';
import { MessageLine } from './message.tsx';
import { idOf, textOf } from './entry.ts';
import { openRow, run } from './state.ts';

export function TraceTab({ traceId }: { readonly traceId: string }): JSX.Element {
  const { value, error, isBusy, again } = useRequest(
    async (signal) => {
      const answer = await request('POST /search', { body: { query: `${exactly('trace_id', traceId)} | sort by (_time) limit 200`, start: '-7d', limit: 200 } }, signal); // prettier-ignore
      return 'logs' in answer ? answer.logs : [];
    },
    [traceId],
  );
  if (error !== null) return <ErrorNote error={error} onAgain={again} />;
  return (
    <div class="context">
      <BusyBar isBusy={isBusy} />
      <div class="drawer-pad row-of">
        <span class="mono cut grow">{traceId}</span>
        <Button isSmall onClick={() => run(exactly('trace_id', traceId))}>
          Filter by it
        </Button>
      </div>
      <ol>
        {(value ?? []).map((one, at) => (
          <li key={at} class="context-line">
            <button type="button" onClick={() => openRow(idOf(one))} title="Open this entry">
              {clockOf(textOf(one, '_time'), zone.value)}
            </button>
            <Level level={textOf(one, 'level')} />
            <span class="context-text">
              <b class="muted">{textOf(one, 'service')}</b> <MessageLine text={textOf(one, '_msg')} terms={[]} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
