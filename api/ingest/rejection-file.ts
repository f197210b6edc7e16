import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Joi from 'joi';
import type { Logger } from 'pino';
import { repeat } from '../../pipeline/core/repeat.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { RejectedEntry, RejectionLog } from './rejection-log.ts';

const EVERY_MS = 5000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const text = Joi.string().allow('').required();
const SCHEMA = Joi.array().items(
  Joi.array().ordered(
    Joi.number().integer().min(0).required(),
    Joi.array().items(
      Joi.object({
        ...{ time: text, format: text, reason: text, sample: text, request_id: text, path: text, client: text },
        index: Joi.number().integer().allow(null).required(),
        status: Joi.number().integer().required(),
        count: Joi.number().integer().min(1),
      }),
    ),
  ),
);

export type RejectionFileOptions = {
  readonly file: string;
  readonly rejections: RejectionLog;
  readonly log: Logger;
  readonly everyMs?: number;
};

/** Keeps what was refused over a restart: in a file of the process, written every five seconds where something came, and at the end. */
export class RejectionFile implements Service {
  readonly name = 'rejections';
  readonly #options: RejectionFileOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #written = 0;

  constructor(options: RejectionFileOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { rejections, everyMs = EVERY_MS } = this.#options;
    await this.#read();
    this.#written = rejections.version;
    this.#running = repeat(everyMs, this.#stop.signal, () => this.#write());
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** A file that cannot be read is no reason not to start. */
  async #read(): Promise<void> {
    const { file, rejections, log } = this.#options;
    try {
      const content = await readFile(file, 'utf8');
      if (content.length > MAX_FILE_BYTES) throw new Error('it is too large');
      const { error, value } = SCHEMA.validate(JSON.parse(content)) as { error?: Error; value: [number, RejectedEntry[]][] };
      if (error !== undefined) throw error;
      for (const [tenantId, kept] of value) rejections.add(tenantId, kept);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log.warn({ err: error, file }, 'The last rejections cannot be read.');
    }
  }

  async #write(): Promise<void> {
    const { file, rejections, log } = this.#options;
    const { version } = rejections;
    if (version === this.#written) return;
    try {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(`${file}.new`, JSON.stringify(rejections.all), { mode: 0o600 });
      await rename(`${file}.new`, file);
      this.#written = version;
    } catch (error) {
      log.warn({ err: error, file }, 'The last rejections cannot be written.');
    }
  }
}
