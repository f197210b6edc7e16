/** Where alerts are sent: the tenant's webhooks, each with a test delivery. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../base/action.ts';
import { request, useRequest, type AnswerOf } from '../base/api.ts';
import { duration } from '../base/format.ts';
import { lacks } from '../base/session.ts';
import { Button, Dialog, Field, Select } from '../components/controls.tsx';
import { BusyBar, Empty, ErrorNote, Pending, Refusal } from '../components/states.tsx';
import { copy } from '../components/toasts.tsx';

type Webhook = AnswerOf<'GET /webhooks'>['items'][number];
type Tested = AnswerOf<'POST /webhooks/{webhook_id}/test'>;

function TestResult({ result }: { readonly result: Tested }): JSX.Element {
  return (
    <p role="status" class="row-of">
      <span class={result.delivered ? 'badge ok' : 'badge error'}>{result.delivered ? '✓ delivered' : 'not delivered'}</span>
      <span class="muted">
        {result.status === null ? '' : `answered ${String(result.status)}, `}
        {duration(result.duration_ms)}
        {result.error === null ? '' : `: ${result.error}`}
      </span>
    </p>
  );
}

function Line({ webhook }: { readonly webhook: Webhook }): JSX.Element {
  const [result, setResult] = useState<Tested | null>(null);
  const test = useAction(
    (_given: void, signal) => {
      setResult(null);
      return request('POST /webhooks/{webhook_id}/test', { path: { webhook_id: webhook.id } }, signal);
    },
    { onDone: setResult },
  );
  return (
    <li class="stack webhook">
      <div class="row-of">
        <span class="mono cut grow" title={webhook.url}>
          <bdi>{webhook.url}</bdi>
        </span>
        <span class="badge">{webhook.enabled ? `from ${webhook.min_severity}` : 'off'}</span>
        <Pending of={test} />
        <Button isSmall onClick={() => test.start()} reason={lacks('write') ?? (test.isBusy ? 'A test is on its way.' : null)}>
          Send a test
        </Button>
      </div>
      {result === null ? null : <TestResult result={result} />}
      <Refusal of={test} />
    </li>
  );
}

function Add({ onDone }: { readonly onDone: (secret: string) => void }): JSX.Element {
  const [url, setUrl] = useState('');
  const [severity, setSeverity] = useState<Webhook['min_severity']>('warning');
  const [form, setForm] = useState<'json' | 'slack'>('json');
  const save = useAction((_given: void, signal) => request('POST /webhooks', { body: { url, form, min_severity: severity } }, signal), {
    onDone: ({ secret }) => {
      setUrl('');
      onDone(secret);
    },
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (lacks('write') === null) save.start();
      }}
    >
      <Field name="Another one">
        <input class="input" type="url" required placeholder="https://hooks.example.com/…" value={url} onInput={(event) => setUrl(event.currentTarget.value)} />
      </Field>
      <div class="row-of sensitivity">
        <Select label="Form" value={form} options={[['json', 'JSON'], ['slack', 'Slack']]} onChange={(next) => setForm(next === 'slack' ? 'slack' : 'json')} />
        <Select
          label="From which severity"
          value={severity}
          options={[['info', 'from info'], ['warning', 'from warning'], ['critical', 'critical only']]}
          onChange={(next) => setSeverity(next as Webhook['min_severity'])}
        />
        <Button type="submit" kind="primary" reason={lacks('write')}>
          Add
        </Button>
        <Pending of={save} />
      </div>
      <Refusal of={save} />
    </form>
  ); // prettier-ignore
}

export function Webhooks({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { value, error, isBusy, again } = useRequest((signal) => request('GET /webhooks', {}, signal), []);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Dialog title="Webhooks" onClose={onClose}>
      <div class="stack">
        <BusyBar isBusy={isBusy} />
        {error === null ? null : <ErrorNote error={error} onAgain={again} />}
        {value !== null && value.items.length === 0 ? (
          <Empty title="Alerts are sent nowhere yet">
            <p>Add the address of your chat or pager. A test shows at once whether it arrives.</p>
          </Empty>
        ) : null}
        <ul class="plain-list stack">
          {value?.items.map((webhook) => (
            <Line key={webhook.id} webhook={webhook} />
          ))}
        </ul>
        {secret === null ? null : (
          <div class="note warn">
            <p class="grow">It was added. Its secret, which signs what is sent, is shown only now.</p>
            <Button isSmall onClick={() => void copy(secret, 'Secret')}>
              Copy the secret
            </Button>
          </div>
        )}
        <Add
          onDone={(next) => {
            setSecret(next);
            again();
          }}
        />
      </div>
    </Dialog>
  );
}
