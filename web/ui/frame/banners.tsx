/** One line above the page for what concerns all of it: the plan, its volume, a demo, a lost connection. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { isLost, isOffline } from '../base/connection.ts';
import { hrefOf, route } from '../base/route.ts';
import { session } from '../base/session.ts';
import { Button } from '../components/controls.tsx';
import { quota, useQuota } from './use-quota.ts';

const closed = signal<ReadonlySet<string>>(new Set());

/** What there is to report, with the tone of each. */
function lines(): readonly { readonly id: string; readonly kind: string; readonly text: string }[] {
  const { known } = session.value ?? {};
  const { tenant } = route.value;
  return [
    ...(isOffline.value
      ? [{ id: 'offline', kind: 'error', text: 'This machine is offline. What is shown may be out of date.' }]
      : isLost.value
        ? [{ id: 'lost', kind: 'error', text: 'The service cannot be reached: it is tried again. What is shown may be out of date.' }]
        : []),
    ...(known !== undefined && tenant !== null && tenant !== known.tenant_id
      ? [
          {
            id: `tenant ${String(tenant)}`,
            kind: '',
            text: `This address is of tenant ${String(tenant)}; the key belongs to tenant ${String(known.tenant_id)}, whose data is shown.`,
          },
        ]
      : []),
    ...(known?.plan.name === 'trial_expired'
      ? [{ id: 'trial', kind: '', text: 'The trial has expired: new logs are refused. What is stored can be read.' }]
      : []),
    ...(quota.value === null ? [] : [{ id: `quota ${quota.value.kind}`, ...quota.value }]),
    ...(known?.demo === true ? [{ id: 'demo', kind: '', text: 'This is a public demo: everything can be read, nothing changed.' }] : []),
  ];
}

export function Banners(): JSX.Element {
  useQuota();
  const { tenant, page, params } = route.value;
  const own = session.value?.known.tenant_id ?? null;
  return (
    <div role="status">
      {lines()
        .filter(({ id }) => !closed.value.has(id))
        .map(({ id, kind, text }) => (
          <div key={id} class={`banner ${kind}`}>
            <span class="grow">{text}</span>
            {id.startsWith('tenant ') && tenant !== own ? <a href={hrefOf(own, page, params)}>Use the address of tenant {own}</a> : null}
            <Button kind="plain" isSmall isIcon label="Hide this line" onClick={() => void (closed.value = new Set([...closed.value, id]))}>
              ✕
            </Button>
          </div>
        ))}
    </div>
  );
}
