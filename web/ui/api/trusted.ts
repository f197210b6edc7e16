/**
 * The page of the description allows Trusted Types of two policies, in place of none: Redoc makes markup of Markdown and of examples. All of it goes
 * through DOMPurify, and the only script is Redoc itself.
 */
import DOMPurify from 'dompurify';
import redocAddress from 'redoc/bundles/redoc.standalone.js?url';

type Rules = { readonly createHTML: (markup: string) => string; readonly createScriptURL: (address: string) => string };
type Redoc = { init(description: object, options: object, at: HTMLElement, done: (error?: Error | null) => void): void };
type Page = { readonly trustedTypes?: { createPolicy(name: string, rules: Rules): unknown }; readonly Redoc?: Redoc };

function scriptAddress(address: string): string {
  if (address === redocAddress) return address;
  throw new TypeError('This page runs no other script.');
}

/** Loads Redoc, as its bundle is, with the policies in place before. */
export async function loadRedoc(): Promise<Redoc> {
  const page = globalThis as Page;
  page.trustedTypes?.createPolicy('default', { createHTML: (markup) => DOMPurify.sanitize(markup), createScriptURL: scriptAddress });
  const script = document.createElement('script');
  await new Promise((resolve, reject) => {
    script.addEventListener('load', resolve, { once: true });
    script.addEventListener('error', () => reject(new Error('A part of this page could not be loaded.')), { once: true });
    script.src = redocAddress;
    document.head.append(script);
  });
  if (page.Redoc === undefined) throw new Error('A part of this page could not be loaded.');
  return page.Redoc;
}
