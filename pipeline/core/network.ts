import { isIP } from 'node:net';

/** A string such as `10.0.0.0/8` as a network; null for any other. */
export function networkOf(text: string): { readonly address: string; readonly bits: number; readonly family: 'ipv4' | 'ipv6' } | null {
  const [address = '', bits = '', ...more] = text.split('/');
  const version = isIP(address);
  const most = version === 4 ? 32 : 128;
  if (version === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > most) return null;
  return { address, bits: Number(bits), family: version === 4 ? 'ipv4' : 'ipv6' };
}
