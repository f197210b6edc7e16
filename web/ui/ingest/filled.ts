/** An example of a shipper with the address of a service and a key in it. */

/** Lines of remarks at the beginning: they are for readers of the repository. */
const REMARKS = /^(?:(?:#|\/\/).*\n)+/;

/** `url`: the origin of the service. */
export function filled(example: string, url: string, key: string): string {
  const { hostname, port, protocol } = new URL(url);
  const isSecure = protocol === 'https:';
  const ownPort = port === '' ? (isSecure ? '443' : '80') : port;
  return example
    .replace(REMARKS, '')
    .replace(/\n# To the HEC path[^]*$/, '')
    .replaceAll(/http:\/\/(?:127\.0\.0\.1:8081|localhost:8080)/g, () => url)
    .replace(/(host\s+)127\.0\.0\.1(\s+port\s+)8081/, (_all, before: string, between: string) => `${before}${hostname}${between}${ownPort}${isSecure ? '\n    tls          on' : ''}`)
    .replace('server="127.0.0.1" serverport="8081" usehttps="off"', () => `server="${hostname}" serverport="${ownPort}" usehttps="${isSecure ? 'on' : 'off'}"`)
    .replace(/https:\/\/\$\{LOGWEIR_API_KEY\}:@logs\.example\.com/, () => `${protocol}//${key}:@${hostname}${port === '' ? '' : `:${port}`}`)
    .replaceAll(/\$\{(?:env:)?LOGWEIR_API_KEY\}|\bKEY\b/g, () => key)
    .replaceAll('sys.env("LOGWEIR_API_KEY")', () => `"${key}"`)
    .trim(); // prettier-ignore
}
