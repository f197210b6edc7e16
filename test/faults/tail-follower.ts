import WebSocket from 'ws';
import type { Cluster } from './cluster.ts';
import { TailLog, type Chain, type TailEvent } from './tail-log.ts';

/** Entries that a follower wants: the first one of each request. */
const QUERY = '_msg:~"uid=[0-9]+-[0-9]+[.][0-9]+[.]0($|[^0-9])"';
const UID = /uid=(\d+-\d+\.\d+\.0)(?:$|\D)/;
const AGAIN_MS = 250;

/** How a tail comes. */
export type TailForm = 'socket' | 'events';

type Message = Readonly<Record<string, unknown>> & { readonly _control?: { readonly type: string } & Readonly<Record<string, unknown>> };
type Connection = { readonly ended: Promise<void>; close(): void };

/** Follows the first tenant over one API after the other: wherever a connection ends, another one goes on at the last position that was told. */
export class TailFollower {
  readonly name: string;
  /** Connections that were opened, and those that went on where one before was. */
  opened = 0;
  resumed = 0;
  readonly #cluster: Pick<Cluster, 'apis' | 'key'>;
  readonly #form: TailForm;
  readonly #log = new TailLog();
  #turn: number;
  #connection: Connection | null = null;
  #isStopped = false;
  readonly #following: Promise<void>;

  /** `turn`: which API comes first. */
  constructor(cluster: Pick<Cluster, 'apis' | 'key'>, form: TailForm, turn: number) {
    this.name = `${form} ${String(turn)}`;
    this.#cluster = cluster;
    this.#form = form;
    this.#turn = turn;
    this.#following = this.#follow();
  }

  /** Where it is; it follows the log there, where `isLive`. */
  get position(): string | null {
    return this.#log.position;
  }

  get isLive(): boolean {
    return this.#log.isLive;
  }

  get size(): number {
    return this.#log.size;
  }

  /** The client leaves, and comes again. */
  cut(): void {
    this.#connection?.close();
  }

  async stop(): Promise<readonly Chain[]> {
    this.#isStopped = true;
    this.cut();
    await this.#following;
    return this.#log.chains();
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      const url = this.#cluster.apis[this.#turn++ % this.#cluster.apis.length]?.appUrl ?? '';
      const resume = this.#log.position;
      let isOpen = false;
      const take = (event: TailEvent): void => {
        // nothing of a connection that has ended counts any more
        if (this.#connection !== connection) return;
        if (event.kind === 'position' && !isOpen) this.#began(resume);
        isOpen ||= event.kind === 'position';
        this.#log.take(event);
        if (event.kind !== 'cut') return;
        // what comes then has a seam
        this.#connection = null;
        connection.close();
      };
      const open = this.#form === 'socket' ? followSocket : followEvents;
      const connection: Connection = open(url, this.#cluster.key, resume, take);
      this.#connection = connection;
      await connection.ended;
      this.#connection = null;
      this.#log.cut();
      if (!this.#hasStopped()) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  #hasStopped(): boolean {
    return this.#isStopped;
  }

  #began(resume: string | null): void {
    this.opened += 1;
    if (resume !== null) this.resumed += 1;
  }
}

/** What a control message says, whatever carries it. */
function eventsOf(type: string, message: Readonly<Record<string, unknown>>, position: unknown): TailEvent[] {
  if (type === 'dropped') return [{ kind: 'dropped', count: Number(message['count']) }];
  if (type === 'backfill') return message['cut'] === true ? [{ kind: 'cut' }] : [];
  return typeof position === 'string' && position !== '' ? [{ kind: 'position', position }] : [];
}

const uidOf = (entry: Readonly<Record<string, unknown>>): string => UID.exec(String(entry['_msg']))?.[1] ?? JSON.stringify(entry);

function followSocket(url: string, key: string, resume: string | null, take: (event: TailEvent) => void): Connection {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws/livetail/1`, ['logweir.v1', `logweir.bearer.${key}`]);
  const close = (): void => {
    socket.terminate();
  };
  socket.on('open', () => {
    socket.send(JSON.stringify({ query: QUERY, control: true, ...(resume === null ? {} : { resume }) }));
  });
  socket.on('error', () => undefined);
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message;
    const { _control: control } = message;
    if (control === undefined) take({ kind: 'entry', uid: uidOf(message) });
    else if (control.type === 'error') close();
    else for (const event of eventsOf(control.type, control, control['position'])) take(event);
  });
  return { ended: new Promise((resolve) => socket.once('close', () => resolve())), close };
}

function followEvents(url: string, key: string, resume: string | null, take: (event: TailEvent) => void): Connection {
  const over = new AbortController();
  const follow = async (): Promise<void> => {
    const headers = {
      Authorization: `Bearer ${key}`,
      Accept: 'text/event-stream',
      ...(resume === null ? {} : { 'Last-Event-ID': resume }),
    };
    const path = `/api/v1/tenants/1/tail?query=${encodeURIComponent(QUERY)}`;
    const response = await fetch(url + path, { headers, signal: over.signal });
    if (!response.ok || response.body === null) return;
    let rest = '';
    for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
      const events = (rest + part).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const fields = new Map(event.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
        const [type, id] = [fields.get('event'), fields.get('id')];
        const data = JSON.parse(fields.get('data') ?? '{}') as Message;
        if (type === 'failed') return;
        if (type === undefined) take({ kind: 'entry', uid: uidOf(data), ...(id === undefined ? {} : { position: id }) });
        else for (const one of eventsOf(type, data, id)) take(one);
      }
    }
  };
  const ended = follow()
    .catch(() => undefined)
    .finally(() => {
      over.abort();
    });
  return {
    ended,
    close: () => {
      over.abort();
    },
  };
}
