import { startProxy, type Proxy } from './proxy.ts';

export const BROKER_NAMES = ['kafka-1', 'kafka-2', 'kafka-3'] as const;
export type BrokerName = (typeof BROKER_NAMES)[number];

/** Kinds of processes that are clients of Kafka. */
export type ClientKind = 'api' | 'sink';

/** The ports of a broker on 127.0.0.1: for clients without a proxy, for other brokers, for controllers, and for each kind of client behind a proxy. */
export type BrokerPorts = { readonly plain: number; readonly internal: number; readonly controller: number } & Readonly<
  Record<ClientKind, number>
>;

/** `refused`: connections are cut, and new ones refused. `silent`: bytes vanish and connections stay, until it is over. */
export type Separation = 'refused' | 'silent';

/** The network between brokers: each way from one to another, and from clients to each, has a proxy of its own. Verbs last until `heal`. */
export type BrokerNetwork = {
  /** Nothing passes between a broker and the others, neither copies nor what controllers say; nor between it and clients, where asked. */
  isolate(name: BrokerName, how: Separation, withClients: boolean): Promise<void>;
  /** What one broker sends to another vanishes, requests and answers; what comes from there arrives. */
  loseOneWay(from: BrokerName, to: BrokerName): void;
  heal(): Promise<void>;
  /** Connections between brokers so far, and bytes that vanished. */
  readonly counts: { readonly connections: number; readonly swallowedBytes: number };
  /** Where a kind of client finds a broker; null where it has no proxy. */
  clientPort(name: BrokerName, kind: ClientKind): number | null;
  /** What starts a broker where it belongs, and the address that it listens on there. */
  place(name: BrokerName): { readonly launcher: readonly string[]; readonly listens: string };
  /** Where a broker finds another one, or itself. */
  address(from: BrokerName, to: BrokerName): string;
  close(): Promise<void>;
};

const numberOf = (name: BrokerName): number => BROKER_NAMES.indexOf(name) + 1;

/** Where the way from one broker to another begins: an address of the loopback network for each pair. */
export const addressBetween = (from: BrokerName, to: BrokerName): string => `127.77.${String(numberOf(from))}.${String(numberOf(to))}`;

type Way = { readonly from: BrokerName | ClientKind; readonly to: BrokerName; readonly proxy: Proxy };

/** Opens the ways between all brokers, where asked, and from these kinds of clients to all. The brokers need not be there yet. */
export async function openBrokerNetwork(
  ports: Readonly<Record<BrokerName, BrokerPorts>>,
  kinds: readonly ClientKind[],
  isBetween = true,
): Promise<BrokerNetwork> {
  const ways: Way[] = [];
  const open = async (from: Way['from'], to: BrokerName, port: number, listen: { host: string; port: number } | null): Promise<void> => {
    const proxy = await startProxy({ target: { host: '127.0.0.1', port }, protocol: 'raw', ...listen });
    ways.push({ from, to, proxy });
  };
  for (const to of BROKER_NAMES) {
    for (const from of BROKER_NAMES) {
      const host = addressBetween(from, to);
      if (isBetween && from !== to)
        for (const port of [ports[to].internal, ports[to].controller]) await open(from, to, port, { host, port });
    }
    for (const kind of kinds) await open(kind, to, ports[to][kind], null);
  }
  const isBroker = (end: Way['from']): end is BrokerName => BROKER_NAMES.includes(end as BrokerName);
  const between = ways.filter(({ from }) => isBroker(from));
  return {
    isolate: async (name, how, withClients) => {
      const cut = ways.filter(({ from, to }) => (isBroker(from) ? from === name || to === name : withClients && to === name));
      for (const { proxy } of cut) {
        if (how === 'silent') proxy.blackHole(true);
        else {
          await proxy.refuse(true);
          proxy.cut();
        }
      }
    },
    loseOneWay: (one, other) => {
      for (const { from, to, proxy } of between) {
        if (from === one && to === other) proxy.blackHole(true, 'cut', 'up');
        if (from === other && to === one) proxy.blackHole(true, 'cut', 'down');
      }
    },
    heal: async () => {
      for (const { proxy } of ways) {
        proxy.blackHole(false);
        await proxy.refuse(false);
      }
    },
    get counts() {
      const sum = (of: (proxy: Proxy) => number): number => between.reduce((total, { proxy }) => total + of(proxy), 0);
      return { connections: sum(({ counts }) => counts.connections), swallowedBytes: sum(({ counts }) => counts.swallowedBytes) };
    },
    clientPort: (name, kind) => ways.find(({ from, to }) => from === kind && to === name)?.proxy.port ?? null,
    place: () => ({ launcher: [], listens: '127.0.0.1' }),
    address: (from, to) => (from === to || !isBetween ? '127.0.0.1' : addressBetween(from, to)),
    close: async () => {
      await Promise.all(ways.map(({ proxy }) => proxy.close()));
    },
  };
}
