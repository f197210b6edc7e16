/** Where a listener of this machine is reached from it; of one that is on another address than the loopback, by that. */
export function loopbackUrl(host: string, port: number): string {
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${String(port)}`;
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::']);

/** Whether what listens on this address is reached on the loopback. */
export const isLoopback = (host: string): boolean => LOOPBACK.has(host);
