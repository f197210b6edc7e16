/** All rules by LogsQL of the tenant: to read, write, change and delete. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../base/action.ts';
import { request, useRequest } from '../base/api.ts';
import { lacks } from '../base/session.ts';
import { Button, Dialog } from '../components/controls.tsx';
import { Busy, Empty, ErrorNote, Pending, Refusal } from '../components/states.tsx';
import { toast } from '../components/toasts.tsx';
import type { Rule } from './rule-body.ts';
import { RuleEditor } from './rule-editor.tsx';
import { RuleLine } from './rule-of.tsx';

function Line({ rule, onEdit, onGone }: { readonly rule: Rule; readonly onEdit: () => void; readonly onGone: () => void }): JSX.Element {
  const [isSure, setSure] = useState(false);
  const removal = useAction((_given: void, signal) => request('DELETE /rules/{rule_id}', { path: { rule_id: rule.id } }, signal), {
    onDone: () => {
      toast('The rule is deleted');
      onGone();
    },
  });
  return (
    <li class="rule">
      <div class="row-of">
        <span class="strong cut grow">
          <bdi>{rule.name}</bdi>
        </span>
        <span class="badge">{rule.severity}</span>
        <Pending of={removal} />
        <Button isSmall onClick={onEdit}>
          Change…
        </Button>
        <Button isSmall kind={isSure ? 'danger' : ''} reason={lacks('write')} onClick={() => (isSure ? removal.start() : setSure(true))}>
          {isSure ? 'Delete it' : 'Delete'}
        </Button>
      </div>
      <RuleLine rule={rule} />
      <Refusal of={removal} />
    </li>
  );
}

export function Rules({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const loaded = useRequest((signal) => request('GET /rules', { query: { limit: 200 } }, signal), []);
  const { value, error, again } = loaded;
  const [edited, setEdited] = useState<Rule | 'new' | null>(null);
  const rules = value?.items ?? [];
  return (
    <Dialog title={edited === null ? 'Rules' : edited === 'new' ? 'A new rule' : 'Change the rule'} onClose={onClose} class="wide-dialog">
      {edited !== null ? (
        <RuleEditor
          rule={edited === 'new' ? null : edited}
          onCancel={() => setEdited(null)}
          onDone={() => {
            setEdited(null);
            again();
          }}
        />
      ) : (
        <div class="stack">
          <Busy of={loaded} />
          {error === null ? null : <ErrorNote error={error} onAgain={again} />}
          {value !== null && rules.length === 0 ? (
            <Empty title="No rule yet">
              <p>Detectors fire by themselves. A rule is for a number of your own: errors of a service, a slow quantile.</p>
            </Empty>
          ) : null}
          <ul class="plain-list">
            {rules.map((rule) => (
              <Line key={rule.id} rule={rule} onEdit={() => setEdited(rule)} onGone={again} />
            ))}
          </ul>
          <div class="row-of">
            <Button kind="primary" onClick={() => setEdited('new')} reason={lacks('write')}>
              New rule…
            </Button>
            {value === null ? null : (
              <span class="cap">
                {rules.length} of {value.most}
              </span>
            )}
          </div>
        </div>
      )}
    </Dialog>
  );
}
