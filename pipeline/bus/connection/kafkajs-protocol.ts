/** What is used of kafkajs' protocol in addition to its clients. These are inner parts of kafkajs, whose version is pinned. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export type ProtocolResponse = {
  readonly decode: (raw: unknown) => Promise<unknown>;
  readonly parse: (decoded: unknown) => Promise<unknown>;
};
export type ProtocolRequest = { readonly request: object & { readonly apiVersion: number }; readonly response: ProtocolResponse };
type ProtocolApi = (options: object) => ProtocolRequest;
type ApiName = 'Metadata' | 'InitProducerId' | 'Produce' | 'Fetch';

/** What knows which versions a broker takes. */
type Versioned = { lookupRequest(key: number, definitions: unknown): ProtocolApi };

/** An error that a broker has answered. `retriable`: the same batch may be taken later, or by another broker. */
export type BrokerError = Error & { readonly retriable: boolean };

const { requests } = require('kafkajs/src/protocol/requests/index.js') as { readonly requests: Readonly<Record<ApiName, unknown>> };
const apiKeys = require('kafkajs/src/protocol/requests/apiKeys.js') as Readonly<Record<ApiName, number>>;
const { createErrorFromCode } = require('kafkajs/src/protocol/error.js') as { createErrorFromCode(code: number): BrokerError };

export const brokerError = (code: number): BrokerError => createErrorFromCode(code);

/** A request in the newest version that kafkajs and the broker know. */
export const requestOf = (broker: Versioned, name: ApiName, options: object): ProtocolRequest =>
  broker.lookupRequest(apiKeys[name], requests[name])(options);

type Codec = { decompress(bytes: Buffer): Promise<Buffer> };
const { lookupCodecByAttributes } = require('kafkajs/src/protocol/message/compression/index.js') as {
  lookupCodecByAttributes(attributes: number): Codec | null;
};

/** How the records of a batch with these attributes are compressed; null where they are not. */
export const codecOf = (attributes: number): Codec | null => lookupCodecByAttributes(attributes);
