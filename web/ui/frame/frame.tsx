import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useCommands } from '../base/keys.ts';
import { API_PAGE, hrefOf, navigate, route } from '../base/route.ts';
import { session, signOut } from '../base/session.ts';
import { flipTheme, flipZone, isDark, zone } from '../base/settings.ts';
import { zoneName } from '../base/time.ts';
import { Button, Popover } from '../components/controls.tsx';
import { BusyBar, Empty, ErrorNote } from '../components/states.tsx';
import { Toasts } from '../components/toasts.tsx';
import { PAGES, pageOf, type Page } from '../pages/registry.ts';
import { Banners } from './banners.tsx';
import { Brand } from './brand.tsx';
import { KeySheet, Palette } from './palette.tsx';
import { badges } from './badges.ts';
import { firingCount, useWatch } from './watch.ts';

const loaded = new Map<string, ComponentType>();

/** A page, loaded when it is first visited; what was there before stays until then. */
function Shown({ page }: { readonly page: Page }): JSX.Element {
  const [, setRound] = useState(0);
  const [error, setError] = useState<Error | null>(null);
  const known = loaded.get(page.id);
  useEffect(() => {
    setError(null);
    if (known !== undefined) return;
    page.load().then(
      (module) => {
        loaded.set(page.id, module.default);
        setRound((round) => round + 1);
      },
      (thrown: unknown) => setError(thrown instanceof Error ? thrown : new Error(String(thrown))),
    );
  }, [page.id]);
  if (error !== null)
    return (
      <div class="page-pad">
        <ErrorNote error={error} onAgain={() => location.reload()}>
          <p>This part of the pages could not be loaded. Another version may have been installed meanwhile.</p>
        </ErrorNote>
      </div>
    );
  const Known = known;
  return Known === undefined ? <BusyBar isBusy /> : <Known />;
}

function Tools({ onPalette, onKeys }: { readonly onPalette: () => void; readonly onKeys: () => void }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { known } = session.value ?? {};
  return (
    <>
      <Button kind="plain" onClick={onPalette} class="wide-only">
        Search or jump <kbd>Ctrl K</kbd>
      </Button>
      <Button kind="plain" onClick={flipZone} title="Times in UTC, or as this machine has them" testId="zone">
        {zoneName(zone.value)}
      </Button>
      <Button kind="plain" isIcon onClick={flipTheme} label={isDark() ? 'Light colours' : 'Dark colours'} testId="theme">
        ◐
      </Button>
      <Button kind="plain" isIcon onClick={onKeys} label="Keys">
        ?
      </Button>
      <span style={{ position: 'relative' }} class="tenant">
        <Button kind="plain" onClick={() => setOpen(!isOpen)} isExpanded={isOpen} testId="account">
          Tenant {known?.tenant_id} <span class="faint">▾</span>
        </Button>
        <Popover isOpen={isOpen} onClose={() => setOpen(false)} label="Account">
          <div class="stack" style={{ padding: '12px 16px', width: '260px' }}>
            <div>
              <div class="strong">Tenant {known?.tenant_id}</div>
              <div class="muted">
                Plan {known?.plan.name}, key {known?.key_id}
              </div>
              {known === undefined || known.project === null ? null : (
                <div class="muted">
                  Project <bdi>{known.project.name}</bdi>
                </div>
              )}
            </div>
            <div class="row-of">
              {(['read', 'write', 'ingest'] as const).map((scope) => (
                <span key={scope} class={known?.scopes.includes(scope) === true ? 'badge ok' : 'badge'}>
                  {known?.scopes.includes(scope) === true ? '✓' : '–'} {scope}
                </span>
              ))}
            </div>
            <a href={API_PAGE}>API reference</a>
            <Button onClick={() => signOut()}>Sign out</Button>
          </div>
        </Popover>
      </span>
    </>
  );
}

function NavBadge({ page }: { readonly page: string }): JSX.Element | null {
  const badge = badges.value[page];
  return badge === undefined ? null : (
    <span class={`badge ${badge.kind}`} title={badge.title} data-test={`badge-${page}`}>
      {badge.text}
      {badge.unit === undefined ? null : <span class="wide-only"> {badge.unit}</span>}
    </span>
  );
}

function Navigation({ tenant, current }: { readonly tenant: number | null; readonly current: string }): JSX.Element {
  // where there is little room the bar is scrolled
  useEffect(() => document.querySelector('.nav[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [current]);
  return (
    <nav aria-label="Pages">
      {PAGES.filter(({ key }) => key !== null).map(({ id: to, name }) => (
        <a key={to} class="nav" href={hrefOf(tenant, to)} aria-current={to === current ? 'page' : undefined}>
          {name}
          <NavBadge page={to} />
        </a>
      ))}
    </nav>
  );
}

/** The bar of all pages, and the page below it. */
export function Frame(): JSX.Element {
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null);
  const { page: id, tenant } = route.value;
  const page = pageOf(id);
  const go = (to: Page): void => navigate(hrefOf(session.peek()?.known.tenant_id ?? null, to.id));
  useCommands([
    { keys: 'Ctrl+K', name: 'Search or jump', section: 'Everywhere', isEverywhere: true, run: () => setOpen('palette') },
    { keys: '?', name: 'Show all keys', section: 'Everywhere', run: () => setOpen('keys') },
    { keys: '', name: 'Light or dark', section: 'Everywhere', run: flipTheme },
    { keys: '', name: 'UTC or local time', section: 'Everywhere', run: flipZone },
    { keys: '', name: 'API reference', section: 'Go', run: () => location.assign(API_PAGE) },
    { keys: '', name: 'Sign out', section: 'Everywhere', run: () => signOut() },
    ...PAGES.filter(({ key }) => key !== null).map((to) => ({ keys: `g ${to.key ?? ''}`, name: `Go to ${to.name}`, section: 'Go', run: () => go(to) })), // prettier-ignore
  ]);
  useWatch();
  useEffect(() => {
    const many = firingCount.value === 0 ? '' : `(${String(firingCount.value)}) `;
    document.title = many + (page === null ? 'Logweir' : `${page.name} · Logweir`);
  }, [page, firingCount.value]);
  return (
    <>
      <a class="btn skip" href="#page">
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href={hrefOf(tenant, 'explore')}>
          <Brand />
        </a>
        <Navigation tenant={tenant} current={id} />
        <span class="grow" />
        <Tools onPalette={() => setOpen('palette')} onKeys={() => setOpen('keys')} />
      </header>
      <Banners />
      <main class="page" id="page" tabIndex={-1}>
        {page === null ? (
          <Empty title="There is no such page">
            <a href={hrefOf(tenant, 'explore')}>Go to Explore</a>
          </Empty>
        ) : (
          <>
            <h1 class="hidden">{page.name}</h1>
            <Shown page={page} key={page.id} />
          </>
        )}
      </main>
      {open === 'palette' ? <Palette onClose={() => setOpen(null)} /> : null}
      {open === 'keys' ? <KeySheet onClose={() => setOpen(null)} /> : null}
      <Toasts />
    </>
  );
}
