import { UsageError } from './output.ts';

/**
 * The address of a host, without a slash at its end: `http://host:8080/`, `host:8080` and `host` are taken, the latter two as http. `name`: where it
 * stands, for the error. Throws UsageError.
 */
export function serviceUrl(text: string, name: string): string {
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const wrong = (why: string): UsageError =>
    new UsageError(`${name} must be the address of a host, such as http://127.0.0.1:8080 (got ${JSON.stringify(text)}: ${why}).`);
  if (!URL.canParse(whole)) throw wrong('not a valid URL');
  const url = new URL(whole);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw wrong(`${url.protocol.slice(0, -1)} is not http or https`);
  if (url.username !== '' || url.password !== '') throw wrong('the key is given by --key or LOGWEIR_API_KEY');
  if (url.search !== '' || url.hash !== '') throw wrong('a query or a fragment is not part of it');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
