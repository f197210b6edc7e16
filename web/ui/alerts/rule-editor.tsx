/** A rule, written or changed, with what it would have fired in the last 24 hours before it is saved. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../base/action.ts';
import { request, useRequest, type AnswerOf, type Loaded } from '../base/api.ts';
import { plural } from '../base/format.ts';
import { lacks } from '../base/session.ts';
import { Button, Field, Select } from '../components/controls.tsx';
import { BusyBar, ErrorNote, Pending, Refusal } from '../components/states.tsx';
import { toast } from '../components/toasts.tsx';
import { FiredCount, FiredLane, FiredList } from './fired.tsx';
import { bodyOf, type Rule, type RuleBody } from './rule-body.ts';

type Preview = AnswerOf<'POST /rules/preview'>;
const EVERY = [['1m', 'a minute'], ['5m', '5 minutes'], ['15m', '15 minutes'], ['1h', 'an hour']] as const; // prettier-ignore
const SEVERITIES = [['info', 'info'], ['warning', 'warning'], ['critical', 'critical']] as const; // prettier-ignore
const SENSITIVITIES = [['low', 'low'], ['normal', 'normal'], ['high', 'high']] as const; // prettier-ignore
/** A preview is made when the typing rests. */
const QUIET_MS = 500;

/** What is typed, once it rests. */
function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  const text = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), QUIET_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

const wordsOf = (labels: Readonly<Record<string, unknown>>): string =>
  Object.entries(labels).map(([name, value]) => `${name}=${String(value)}`).join(', ') || 'all'; // prettier-ignore

function Would({ loaded, isBusy }: { readonly loaded: Loaded<Preview>; readonly isBusy: boolean }): JSX.Element {
  const { value: preview, error, again } = loaded;
  const fired = (preview?.series ?? []).flatMap(({ labels, alerts }) => alerts.map((alert) => ({ ...alert, of: wordsOf(labels) })));
  return (
    <section class="would" aria-label="Preview" data-test="preview">
      <BusyBar isBusy={isBusy} />
      {error === null ? null : <ErrorNote error={error} onAgain={again} />}
      {loaded.isBusy && (preview === null || error !== null) ? (
        <p class="muted row-of">Counting the last 24 hours … <Pending of={loaded} /></p>
      ) : null}
      {preview === null || error !== null ? null : (
        <>
          <p role="status">
            In the last 24 hours it would have fired <FiredCount fired={preview.fired} />
            {preview.series.length > 1 ? `, of ${plural(preview.series.length, 'group')}` : ''}
            {preview.has_more_groups ? ' with the most entries' : ''}.
          </p>
          <FiredLane fired={fired} window={preview.window} />
          <FiredList fired={fired} />
        </>
      )}
    </section>
  ); // prettier-ignore
}

type Setter = <Name extends keyof RuleBody>(name: Name, value: RuleBody[Name]) => void;

function Fields({ body, set }: { readonly body: RuleBody; readonly set: Setter }): JSX.Element {
  const isWatched = body.if === undefined || !body.if.trim().startsWith('value');
  return (
    <>
      <Field name="Name">
        <input class="input" name="rule-name" required maxLength={100} value={body.name} onInput={(event) => set('name', event.currentTarget.value)} />
      </Field>
      <Field name="Query" note="A filter and one function: level:error | stats by (service) count()">
        <textarea class="input mono" name="rule-query" rows={2} required spellcheck={false} value={body.query} onInput={(event) => set('query', event.currentTarget.value)} />
      </Field>
      <Field name="Fires when" note="value > 100, value >= 500ms, or anomaly, anomaly up, anomaly down">
        <input class="input mono" name="rule-if" required spellcheck={false} value={body.if ?? ''} onInput={(event) => set('if', event.currentTarget.value)} />
      </Field>
      <div class="row-of sensitivity">
        <label class="row-of">In <Select label="Window" value={body.every ?? '1m'} options={EVERY} onChange={(next) => set('every', next)} /></label>
        <label class="row-of">as <Select label="Severity" value={body.severity ?? 'warning'} options={SEVERITIES} onChange={(next) => set('severity', next)} /></label>
        {isWatched ? (
          <label class="row-of">sensitivity <Select label="Sensitivity" value={body.sensitivity ?? 'low'} options={SENSITIVITIES} onChange={(next) => set('sensitivity', next)} /></label>
        ) : (
          <label class="row-of">
            for <input class="input" style={{ width: '64px' }} type="number" min="1" max="60" aria-label="Windows in a row" value={body.for ?? 1} onInput={(event) => set('for', Number(event.currentTarget.value))} /> windows
          </label>
        )}
      </div>
    </>
  ); // prettier-ignore
}

/** `rule`: null for a new one. */
export function RuleEditor({
  rule,
  onDone,
  onCancel,
}: {
  readonly rule: Rule | null;
  readonly onDone: (rule: Rule) => void;
  readonly onCancel: () => void;
}): JSX.Element {
  const [body, setBody] = useState<RuleBody>(bodyOf(rule));
  const rested = useRested(body);
  const preview = useRequest((signal) => request('POST /rules/preview', { body: rested }, signal), [JSON.stringify(rested)]);
  const save = useAction(
    (_given: void, signal): Promise<Rule> =>
      rule === null
        ? request('POST /rules', { body }, signal)
        : request('PUT /rules/{rule_id}', { path: { rule_id: rule.id }, body }, signal),
    {
      onDone: (saved) => {
        onDone(saved);
        toast(rule === null ? 'The rule watches from its next window on' : 'The rule is changed');
      },
    },
  );
  return (
    <form
      class="stack"
      aria-label={rule === null ? 'A new rule' : 'The rule'}
      onSubmit={(event) => {
        event.preventDefault();
        if (lacks('write') === null) save.start();
      }}
    >
      <Fields body={body} set={(name, value) => setBody((now) => ({ ...now, [name]: value }))} />
      <Would loaded={preview} isBusy={preview.isBusy || rested !== body} />
      <Refusal of={save} />
      <div class="row-of">
        <Button kind="primary" type="submit" reason={lacks('write')} testId="save-rule">
          Save
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
        <Pending of={save} />
      </div>
    </form>
  ); // prettier-ignore
}
