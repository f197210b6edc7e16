/** What `npm run bench:own-readers` compares: the name of our piece, the library, and what one measured unit is. */
export type Row = { readonly name: string; readonly instead: string; readonly unit: string };

export const ROWS: readonly Row[] = [
  { name: 'JSON object to a row', instead: 'JSON.parse', unit: 'entry' },
  { name: 'JSON object to a row, without the scanner', instead: 'JSON.parse', unit: 'entry' },
  { name: 'MessagePack', instead: '@msgpack/msgpack', unit: 'entry' },
  { name: 'snappy body', instead: 'snappyjs', unit: 'entry' },
  { name: 'snappy batch', instead: 'kafkajs-snappy', unit: 'entry' },
  { name: 'LZ4 batch', instead: 'lz4js', unit: 'entry' },
  { name: 'route table', instead: '@koa/router', unit: 'request' },
  { name: 'SELECT client', instead: '@clickhouse/client', unit: 'statement, in ms of wall time' },
];
