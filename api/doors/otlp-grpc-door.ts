import {
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type Metadata,
  type ServerInterceptor,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { backpressure, httpErrorOf, slowMessage, type HttpError } from '../../pipeline/core/errors.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { extractCredential } from '../auth/forms.ts';
import type { ListenerTls } from '../http/listener-tls.ts';
import { internalError } from '../http/render-error.ts';
import type { Principal } from '../tenants/principal.ts';
import { addressOf } from './address.ts';
import { doorDelivery, formatOf, noteRefusal, type DoorContext } from './door-delivery.ts';
import { ClientKeys, keyless, principalOf } from './door-keys.ts';
import type { DoorMetrics } from './door-metrics.ts';
import type { OtlpGrpcDoor } from './doors-file.ts';
import type { GrpcAdmission } from './grpc-admission.ts';
import { statusOf } from './grpc-status.ts';
import type { Seat } from './seats.ts';
import { SocketListener } from './socket-listener.ts';

export type OtlpGrpcDoorOptions = DoorContext & {
  readonly door: OtlpGrpcDoor;
  readonly tls: ListenerTls | null;
  /** Of all doors of the process. */
  readonly admission: GrpcAdmission;
  readonly metrics: DoorMetrics;
  readonly log: Logger;
  /** Is given each call that is refused. */
  readonly onRefused?: (error: HttpError) => void;
  /** How long the message of a call may take to come; milliseconds. */
  readonly messageMs?: number;
};

/** OTLP's services (https://opentelemetry.io/docs/specs/otlp/#otlpgrpc), and the formats whose protobuf they take. */
const SERVICES = [
  { service: 'opentelemetry.proto.collector.logs.v1.LogsService', format: 'otlp_logs' },
  { service: 'opentelemetry.proto.collector.trace.v1.TraceService', format: 'otlp_traces' },
  { service: 'opentelemetry.proto.collector.metrics.v1.MetricsService', format: 'otlp_metrics' },
] as const;

/** The message of a call comes within this. Milliseconds. */
const MESSAGE_MS = 30_000;
/** Calls of a connection at once, what HTTP/2 may keep for it in MB, and how long one without calls stays open. */
const MAX_CALLS = 32;
const MAX_SESSION_MB = 8;
const IDLE_MS = 600_000;
const MAX_METADATA_BYTES = 16_384;
const STOP_MS = 9000;
const NO_QUERY = new URLSearchParams();

/** A connection: the key of its certificate, and its place at the door. */
type Peer = { readonly key: string | null; readonly seat: Seat };

/** Who calls, as was found before the message came. */
type Caller = { readonly principal: Principal; readonly client: string };

/** OTLP over gRPC. A call is answered once what it brought is on the log. */
export class OtlpGrpcListener implements Service {
  readonly name: string;
  readonly #options: OtlpGrpcDoorOptions;
  readonly #listener: SocketListener;
  readonly #server: Server;
  readonly #clients: ClientKeys;
  readonly #callers = new WeakMap<Metadata, Caller>();
  /** Connections that are open. */
  readonly #byPeer = new Map<string, Peer>();
  readonly #query: URLSearchParams;

  constructor(options: OtlpGrpcDoorOptions) {
    const { door, tls, metrics } = options;
    this.#options = options;
    this.name = `door ${door.name}`;
    this.#query = new URLSearchParams(door.parameters);
    this.#clients = new ClientKeys(door.clients);
    this.#server = new Server({
      'grpc.max_receive_message_length': Math.max(...SERVICES.map(({ format }) => this.#capOf(format))),
      'grpc.max_concurrent_streams': MAX_CALLS,
      'grpc.max_metadata_size': MAX_METADATA_BYTES,
      'grpc.max_connection_idle_ms': IDLE_MS,
      'grpc-node.max_session_memory': MAX_SESSION_MB,
      'grpc.enable_channelz': 0,
      interceptors: [this.#intercept],
    });
    for (const { service, format } of SERVICES) this.#serve(service, format);
    const injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    this.#listener = new SocketListener({
      ...{ door, tls, metrics, protocols: ['h2'] },
      onConnection: (socket, seat) => {
        this.#know(socket, seat);
        injector.injectConnection(socket);
      },
    });
  }

  get port(): number {
    return this.#listener.port;
  }

  start(): Promise<void> {
    return this.#listener.start();
  }

  /** Calls that have begun are answered. */
  async stop(): Promise<void> {
    const stopped = this.#listener.stop();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#server.forceShutdown();
        resolve();
      }, STOP_MS);
      this.#server.tryShutdown(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    await stopped;
  }

  #capOf(format: string): number {
    const { intake, normalizer } = formatOf(this.#options.intakes, format);
    return intake.capsOf(normalizer).inflated;
  }

  #serve(service: string, format: string): void {
    const asIs = (bytes: Buffer): Buffer => bytes;
    const definition = {
      Export: {
        path: `/${service}/Export`,
        ...{ requestStream: false, responseStream: false },
        ...{ requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs },
      },
    } as const;
    this.#server.addService(definition, {
      Export: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => void this.#export(call, format, answer),
    });
  }

  async #export({ request, metadata }: ServerUnaryCall<Buffer, Buffer>, format: string, answer: sendUnaryData<Buffer>): Promise<void> {
    const caller = this.#callers.get(metadata);
    try {
      if (caller === undefined) throw new Error('BUG: a call whose key was not looked at.');
      const { intake, normalizer } = formatOf(this.#options.intakes, format);
      const given = { path: this.#path, contentType: 'application/x-protobuf', query: this.#query, body: request };
      const { body } = await intake.take(doorDelivery({ ...caller, ...given }), normalizer);
      answer(null, Buffer.isBuffer(body) ? body : Buffer.alloc(0));
    } catch (thrown) {
      const error = this.#errorOf(thrown);
      noteRefusal(this.#options, caller?.principal.tenantId ?? null, error, {
        ...{ format, path: this.#path, client: caller?.client ?? '' },
      });
      answer(statusOf(error));
    }
  }

  /** The key of a call is looked at before its message comes, and what messages may bring is bounded. */
  readonly #intercept: ServerInterceptor = (method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) => {
        let timer: NodeJS.Timeout | undefined;
        let leave = (): void => undefined;
        const end = (): void => {
          clearTimeout(timer);
          leave();
        };
        next({
          onReceiveMetadata: (metadata, go) => {
            try {
              const caller = this.#callerOf(metadata, call.getConnectionInfo());
              leave = this.#options.admission.enter(caller.principal.tenantId, this.#capOf(formatOfPath(method.path)));
              this.#callers.set(metadata, caller);
              const ms = this.#options.messageMs ?? MESSAGE_MS;
              timer = setTimeout(() => {
                end();
                call.sendStatus(statusOf(slowMessage(ms)));
              }, ms);
              go(metadata);
            } catch (thrown) {
              call.sendStatus(statusOf(this.#errorOf(thrown)));
            }
          },
          onReceiveMessage: (message, go) => {
            end();
            go(message);
          },
          onCancel: end,
        });
      },
    });

  #callerOf(metadata: Metadata, from: { readonly remoteAddress?: string | undefined; readonly remotePort?: number | undefined }): Caller {
    const { door, keys } = this.#options;
    const header = (name: string): string => {
      const [value = ''] = metadata.get(name);
      return typeof value === 'string' ? value : '';
    };
    const peer = this.#byPeer.get(peerOf(from));
    const key = extractCredential({ path: '/', header, query: NO_QUERY }, 'ingest') ?? peer?.key ?? door.key;
    const client = header('user-agent') || addressOf(from.remoteAddress);
    try {
      const principal = principalOf(key, keys, keyless(door.name));
      if (peer?.seat.claim(principal.tenantId) === false)
        throw backpressure('This door has as many connections of this tenant as it may; try again.');
      return { principal, client };
    } catch (thrown) {
      const error = httpErrorOf(thrown);
      const owner = key === null ? null : (keys.ownerOf?.(key) ?? null);
      if (error !== null) noteRefusal(this.#options, owner, error, { format: '', path: this.#path, client });
      throw thrown;
    }
  }

  #know(socket: Socket, seat: Seat): void {
    const peer = peerOf(socket);
    this.#byPeer.set(peer, { key: socket instanceof TLSSocket ? this.#clients.of(socket) : null, seat });
    socket.once('close', () => this.#byPeer.delete(peer));
  }

  #errorOf(thrown: unknown): HttpError {
    const known = httpErrorOf(thrown);
    if (known === null) this.#options.log.error({ err: thrown, door: this.#options.door.name }, 'A call failed unexpectedly.');
    const error = known ?? internalError(thrown);
    this.#options.onRefused?.(error);
    return error;
  }

  get #path(): string {
    return `otlp_grpc:${this.#options.door.name}`;
  }
}

/** The format of a method; the server calls no other methods. */
function formatOfPath(path: string): string {
  const format = SERVICES.find(({ service }) => path === `/${service}/Export`)?.format;
  if (format === undefined) throw new Error(`BUG: the method ${path} is none of this service.`);
  return format;
}

const peerOf = ({
  remoteAddress,
  remotePort,
}: {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}): string => `${String(remoteAddress)} ${String(remotePort)}`;
