import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { encodeTick } from '../../pipeline/bus/records/record.ts';
import { logsSignal } from '../../pipeline/logs/logs-signal.ts';
import { lz4Bound, lz4Compress } from '../../pipeline/wasm/lz4.ts';

type Message = { readonly value: Buffer; readonly headers: Readonly<Record<string, string | Buffer>> };
type Reader = (message: Message) => readonly (readonly string[])[];

const folder = path.resolve(import.meta.dirname, '../../examples/readers');
const { entries } = (await import(path.join(folder, 'read-logs.mjs'))) as { readonly entries: Reader };

/** The Python example on one record, with packages of its own, as there may be none: the frames of this test hold literals alone. */
function inPython({ value, headers }: Message): unknown {
  const program = `import importlib.util, json, sys, types
block = types.ModuleType("lz4.block")
def decompress(data, uncompressed_size):
    at = 1
    if data[0] == 0xF0:
        while data[at] == 255: at += 1
        at += 1
    assert len(data) - at == uncompressed_size
    return data[at:]
block.decompress = decompress
package = types.ModuleType("lz4"); package.block = block
kafka = types.ModuleType("kafka"); kafka.KafkaConsumer = None
sys.modules.update({"lz4": package, "lz4.block": block, "kafka": kafka})
spec = importlib.util.spec_from_file_location("reader", sys.argv[1])
reader = importlib.util.module_from_spec(spec); spec.loader.exec_module(reader)
record = json.load(sys.stdin)
print(json.dumps(list(reader.entries(bytes.fromhex(record["value"]), {name: bytes.fromhex(text) for name, text in record["headers"].items()}))))`;
  const args = ['-B', '-c', program, path.join(folder, 'read-logs.py')];
  const texts = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text).toString('hex')]));
  return JSON.parse(execFileSync('python3', args, { input: JSON.stringify({ value: value.toString('hex'), headers: texts }) }).toString());
}

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 127) | 128, bytes.length >> 7];
  return Buffer.concat([Buffer.from(length), bytes]);
};
const longs = (...values: readonly bigint[]): Buffer => Buffer.from(BigUint64Array.from(values).buffer);
const column = (name: string, type: string, ...data: readonly Buffer[]): Buffer => Buffer.concat([text(name), text(type), ...data]);
const words = (width: bigint, known: readonly string[], ...numbers: readonly number[]): Buffer =>
  Buffer.concat([longs(1n, 0x600n + width, BigInt(known.length)), ...known.map(text), longs(2n), Buffer.from(numbers)]);

const TIMES = [1_795_182_899_000_000_001n, 1_795_182_899_000_000_002n] as const;
const STREAMS = [18_446_744_073_709_551_615n, 7n] as const;
const LONG = `${'é'.repeat(100)} end`;
const PLAIN = Buffer.concat([
  column('_time', "DateTime64(9, 'UTC')", longs(...TIMES)),
  column('stream_id', 'UInt64', longs(...STREAMS)),
  column('severity', 'UInt8', Buffer.of(3, 5)),
  column('pattern', 'UInt64', longs(0n, 9n)),
  column('level', 'LowCardinality(String)', words(0n, ['info', 'error'], 0, 1)),
  column('service', 'LowCardinality(String)', words(1n, ['web'], 0, 0, 0, 0)),
  column('trace_id', 'String', text('abc'), text('')),
  column('span_id', 'String', text(''), text('')),
  column('_msg', 'String', text('a\nb'), text(LONG)),
  column('fields', 'Map(LowCardinality(String), String)', longs(1n, 0n, 0n)),
  column('json_keys', 'Array(LowCardinality(String))', longs(1n, 0n, 0n)),
]);

function frame(size: number, block: Buffer): Buffer {
  const head = Buffer.alloc(25);
  head[16] = 0x82;
  head.writeUInt32LE(block.length + 9, 17);
  head.writeUInt32LE(size, 21);
  return Buffer.concat([head, block]);
}

function literals(bytes: Buffer): Buffer {
  const rest = bytes.length - 15;
  const length = rest < 0 ? [bytes.length << 4] : [0xf0, ...Array.from({ length: Math.floor(rest / 255) }, () => 255), rest % 255];
  return frame(bytes.length, Buffer.concat([Buffer.from(length), bytes]));
}

function packed(bytes: Buffer): Buffer {
  const block = Buffer.alloc(lz4Bound(bytes.length));
  return frame(bytes.length, block.subarray(0, lz4Compress(bytes, 0, bytes.length, block, 0)));
}

const LABELS = ['{host="h1"}', '{}'] as const;
const JSON_STREAMS = JSON.stringify(STREAMS.map((id, row) => [String(id), LABELS[row], 20_777]));
const BLOCK = Buffer.concat([
  Buffer.of(3, 2),
  column('stream_id', 'UInt64', longs(...STREAMS)),
  column('_stream', 'String', ...LABELS.map(text)),
  column('days', 'Array(Int32)', longs(1n, 2n), Buffer.alloc(8, 1)),
]);
const record = (encoding: string, value: Buffer, streams: string | Buffer = literals(BLOCK)): Message => ({
  value,
  headers: { encoding, count: '2', streams: encoding === 'ndjson' ? JSON_STREAMS : streams },
});
const EXPECTED = [
  [String(TIMES[0]), LABELS[0], 'a\nb'],
  [String(TIMES[1]), LABELS[1], LONG],
];
const LINES = Buffer.from(
  EXPECTED.map(([time, , message], row) => `${JSON.stringify({ _time: time, _stream_id: String(STREAMS[row]), _msg: message })}\n`).join(
    '',
  ),
);

describe('examples/readers', () => {
  const cases: readonly (readonly [string, Message])[] = [
    ['columns in one frame', record('columns', literals(PLAIN))],
    [
      'columns in several frames',
      record('columns', Buffer.concat([0, 3, 200].map((at, index, all) => literals(PLAIN.subarray(at, all[index + 1]))))),
    ],
    ['lines', record('ndjson', LINES)],
  ];
  for (const [name, message] of cases) {
    it(`Node reads ${name}`, () => expect(entries(message)).to.deep.equal(EXPECTED));
    it(`Python reads ${name}`, () => expect(inPython(message)).to.deep.equal(EXPECTED));
  }

  it('Node reads what is compressed', () => expect(entries(record('columns', packed(PLAIN), packed(BLOCK)))).to.deep.equal(EXPECTED));

  it('Node reads records one after the other, of more bytes and of fewer', () => {
    const [first, second] = [record('columns', packed(PLAIN)), record('columns', literals(PLAIN))];
    for (const message of [first, record('ndjson', LINES), second, first]) expect(entries(message)).to.deep.equal(EXPECTED);
  });

  for (const [language, name] of [
    ['js', 'read-logs.mjs'],
    ['python', 'read-logs.py'],
  ] as const)
    it(`${name} has at most 30 lines of code, and stands in docs/extending/consumers.md as it is`, () => {
      const text = readFileSync(path.join(folder, name), 'utf8');
      const page = readFileSync(path.resolve(folder, '../../docs/extending/consumers.md'), 'utf8');
      expect(page).to.contain(`\`\`\`${language}\n${text}\`\`\``);
      const code = text.replaceAll(/^ *""".*?"""$/gms, '').split('\n');
      expect(code.filter((line) => !/^\s*($|\/\/|#|\/\*\*)/.test(line)).length).to.be.at.most(30);
    });

  it('both pass a tick over, which has none of the headers of its signal', () => {
    const tick = encodeTick(logsSignal) as Message;
    expect(entries(tick)).to.deep.equal([]);
    expect(inPython(tick)).to.deep.equal([]);
    const setting = encodeTick(logsSignal, { setting: '{"processor":"volume"}' }) as Message;
    expect([entries(setting), inPython(setting)]).to.deep.equal([[], []]);
  });

  it('both read a record of no rows', () => {
    for (const encoding of ['columns', 'ndjson']) {
      const message = { value: Buffer.alloc(0), headers: { encoding, count: '0', streams: encoding === 'ndjson' ? '[]' : '' } };
      expect(entries(message)).to.deep.equal([]);
      expect(inPython(message)).to.deep.equal([]);
    }
  });
});
