/** The rule that has fired: read and changed where its alert is read. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../../client/client.ts';
import { request, useRequest } from '../base/api.ts';
import { Button } from '../components/controls.tsx';
import { ErrorNote } from '../components/states.tsx';
import type { Rule } from './rule-body.ts';
import { RuleEditor } from './rule-editor.tsx';

/** What a rule is, in a line. */
export function RuleLine({ rule }: { readonly rule: Rule }): JSX.Element {
  return (
    <p class="mono rule-line">
      <bdi>{rule.query}</bdi> <span class="faint">every {rule.every ?? '1m'}, fires when</span>{' '}
      <bdi>{rule.if ?? 'never: it only records'}</bdi>
    </p>
  );
}

export function RuleOf({ ruleId }: { readonly ruleId: string | null }): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const [changed, setChanged] = useState<Rule | null>(null);
  const load = ruleId === null ? null : (signal: AbortSignal) => request('GET /rules/{rule_id}', { path: { rule_id: ruleId } }, signal);
  const { value, error, again } = useRequest(load, [ruleId]);
  const rule = changed ?? value;
  if (error instanceof ApiError && error.status === 404) return <p class="muted">The rule that has fired was deleted.</p>;
  if (error !== null) return <ErrorNote error={error} onAgain={again} />;
  if (rule === null) return null;
  return (
    <section class="panel" aria-label="Rule">
      <header class="panel-head">
        <h3 class="grow">
          The rule <bdi>{rule.name}</bdi>
        </h3>
        <Button isSmall isExpanded={isOpen} onClick={() => setOpen(!isOpen)} testId="change-rule">
          {isOpen ? 'Close' : 'Change…'}
        </Button>
      </header>
      {isOpen ? (
        <RuleEditor
          rule={rule}
          onCancel={() => setOpen(false)}
          onDone={(next) => {
            setChanged(next);
            setOpen(false);
          }}
        />
      ) : (
        <RuleLine rule={rule} />
      )}
    </section>
  ); // prettier-ignore
}
