/** `/ui/api/`: the description of the API as a page, by Redoc. */
import '../style/components.css';
import './api.css';
import { render, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, Client } from '../../client/client.ts';
import { keyOfTab } from '../base/session.ts';
import { isDark } from '../base/settings.ts';
import { Button } from '../components/controls.tsx';
import { BusyBar } from '../components/states.tsx';
import { Brand } from '../frame/brand.tsx';
import { keepAccessible } from './accessible.ts';
import { redocOptions } from './look.ts';
import { hrefOfSection, operationsOf, sectionIn, sectionsOf, withSection, type Description } from './sections.ts';

type Shown = 'loading' | 'shown' | { readonly title: string; readonly why: string };

/** Why there is no description, and what to do. */
function problemOf(error: unknown): Shown {
  if (!(error instanceof ApiError))
    return { title: 'The service cannot be reached', why: error instanceof Error ? error.message : String(error) };
  if (error.status === 401) return { title: 'Sign in first', why: 'The description is read with an API key that has the scope “read”.' };
  return { title: 'The description cannot be read', why: error.message };
}

/** Fetches the description with the key of the tab, or else the browser's cookie. */
const fetchDescription = (): Promise<Description> =>
  new Client({ key: keyOfTab() }).call('GET /openapi.json', {}) as Promise<unknown> as Promise<Description>;

/** Has Redoc show a section. */
async function show(description: Description, at: HTMLElement, top: number): Promise<void> {
  const { loadRedoc } = await import('./trusted.ts');
  const redoc = await loadRedoc();
  await new Promise<void>((resolve, reject) => {
    const section = withSection(description, sectionIn(description, location.search));
    redoc.init(section, redocOptions(isDark(), top), at, (error) => (error === undefined || error === null ? resolve() : reject(error)));
  });
}

/** Hands the description over as a file: an address alone would lack the key. */
function save(description: Description): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([JSON.stringify(description, null, 1)], { type: 'application/json' }));
  link.download = 'logweir-openapi.json';
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Which section is shown, and a box that finds an operation of any. */
function Sections({ description }: { readonly description: Description }): JSX.Element {
  const operations = operationsOf(description);
  const find = (text: string): void => {
    const found = operations.find(({ name }) => name === text);
    if (found === undefined) return;
    location.assign(found.href);
  };
  return (
    <>
      <select
        class="input api-section"
        aria-label="Section"
        value={sectionIn(description, location.search)}
        onChange={(event) => location.assign(hrefOfSection(event.currentTarget.value))}
      >
        {sectionsOf(description).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <input
        class="input api-find"
        aria-label="Find an operation"
        placeholder="Find an operation"
        list="api-operations"
        onInput={(event) => find(event.currentTarget.value)}
      />
      <datalist id="api-operations">
        {operations.map(({ name, section }) => (
          <option key={name} value={name} label={section} />
        ))}
      </datalist>
      <Button kind="plain" onClick={() => save(description)} title="openapi.json">
        Download
      </Button>
    </>
  );
}

function Reference(): JSX.Element {
  const [shown, setShown] = useState<Shown>('loading');
  const [description, setDescription] = useState<Description | null>(null);
  const bar = useRef<HTMLElement>(null);
  const at = useRef<HTMLDivElement>(null);
  const start = async (): Promise<void> => {
    const read = await fetchDescription();
    setDescription(read);
    if (at.current !== null) {
      await show(read, at.current, bar.current?.offsetHeight ?? 0);
      keepAccessible(at.current);
    }
    setShown('shown');
  };
  useEffect(() => void start().catch((error: unknown) => setShown(problemOf(error))), []);
  return (
    <>
      <header class="top api-top" ref={bar}>
        <a class="brand" href="/ui/">
          <Brand />
        </a>
        <h1 class="muted api-name">API</h1>
        {description === null ? null : <Sections description={description} />}
      </header>
      <main class="api" id="page" aria-busy={shown === 'loading'}>
        {shown === 'loading' ? <BusyBar isBusy /> : null}
        {typeof shown === 'object' ? (
          <div class="sign-in" role="alert">
            <h2 class="title">{shown.title}</h2>
            <p class="muted">{shown.why}</p>
            <a class="btn primary" href="/ui/">
              To the sign-in
            </a>
          </div>
        ) : null}
        <div ref={at} />
      </main>
    </>
  );
}

const at = document.getElementById('app');
if (at !== null) render(<Reference />, at);
