import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkOf } from '../../core/network.ts';

/**
 * Networks that are not public: private, shared, link-local (with the metadata services of clouds), loopback, documentation,
 * benchmarks, multicast and reserved ones, and the forms in which an IPv6 address carries an IPv4 address (IANA's special-purpose registries,
 * RFC 6890).
 */
const PRIVATE_NETWORKS = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24',
  '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
  '::/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16',
  'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8',
] as const; // prettier-ignore

const MAPPED = '::ffff:';

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of networks) {
    const network = networkOf(text);
    if (network === null) throw new Error(`${JSON.stringify(text)} is not a network: write it as 10.0.0.0/8.`);
    list.addSubnet(network.address, network.bits, network.family);
  }
  return list;
}

/** An address that a connection may not be made to. */
export class PrivateAddress extends Error {
  readonly code = 'ERR_PRIVATE_ADDRESS';
  constructor() {
    super('The address is private, and this deployment does not allow its network.');
  }
}

/** Which addresses a connection may go to whose target a client chose: public ones, and those in networks that the deployment allows. */
export class Addresses {
  readonly #refused = listOf(PRIVATE_NETWORKS);
  readonly #allowed: BlockList;

  /** Networks such as `10.1.0.0/16`. Throws where one is not a network. */
  constructor(allowed: readonly string[] = []) {
    this.#allowed = listOf(allowed);
  }

  /** False for what is not an IP address. An IPv4 address in IPv6 form is what it stands for. */
  allows(address: string): boolean {
    const version = isIP(address);
    if (version === 0) return false;
    const family = version === 4 ? 'ipv4' : 'ipv6';
    if (this.#allowed.check(address, family)) return true;
    // the list takes mapped addresses for the IPv4 ones; in hexadecimal, too
    return (
      !this.#refused.check(address, family) &&
      !(version === 6 && address.toLowerCase().startsWith(MAPPED) && this.#isRefusedMapped(address))
    );
  }

  /**
   * Resolves a name for a connection, which is then made to the address that was checked: a later change of the name has no effect. Fails
   * with PrivateAddress where any of the addresses is refused. A host that is an address itself is not looked up: call `allows`.
   */
  lookup(resolve: LookupFunction = systemLookup): LookupFunction {
    return (hostname, options, callback) => {
      resolve(hostname, options, (error, found, family) => {
        if (error !== null) {
          callback(error, found, family);
          return;
        }
        const all = typeof found === 'string' ? [found] : found.map(({ address }: LookupAddress) => address);
        if (all.length > 0 && all.every((address) => this.allows(address))) callback(null, found, family);
        else callback(new PrivateAddress(), '', 0);
      });
    };
  }

  #isRefusedMapped(address: string): boolean {
    const tail = address.slice(MAPPED.length);
    if (isIP(tail) === 4) return this.#refused.check(tail, 'ipv4');
    const [high = '0', low = '0'] = tail.split(':');
    const [a, b] = [parseInt(high, 16), parseInt(low, 16)];
    return this.#refused.check(`${String(a >> 8)}.${String(a & 255)}.${String(b >> 8)}.${String(b & 255)}`, 'ipv4');
  }
}
