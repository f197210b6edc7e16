/** What counts as one address: of IPv6 the network of 64 bits, which a single host has all of. */
export function addressOf(remote = ''): string {
  if (remote.startsWith('::ffff:') && remote.includes('.')) return remote.slice('::ffff:'.length);
  if (!remote.includes(':')) return remote;
  const [head = '', tail] = remote.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  const whole =
    tail === undefined ? groups : [...groups, ...Array<string>(Math.max(8 - groups.length - behind.length, 0)).fill('0'), ...behind];
  return `${whole.slice(0, 4).join(':')}::/64`;
}
