import { from, type Section } from './limit.ts';

const handshakes = from('api/doors/handshake-bounds.ts');
const budget = from('api/doors/frame-budget.ts');
const file = from('api/doors/doors-file.ts');
const framer = from('pipeline/normalizers/syslog/stream-framer.ts');
const connection = from('api/doors/syslog-connection.ts');
const udp = from('api/doors/syslog-udp-door.ts');
const grpc = from('api/doors/otlp-grpc-door.ts');
const admission = from('api/doors/grpc-admission.ts');
const kafkaFile = from('api/doors/kafka-door-file.ts');
const source = from('api/doors/kafka-source.ts');
const kafkaIntake = from('api/doors/kafka-intake.ts');
const group = from('api/doors/record-bodies.ts');
const tls = from('api/http/listener-tls.ts');

/** What comes by other doors than HTTP. */
export const DOORS: Section = {
  title: 'Doors',
  rows: [
    {
      what: 'Connections of a door, and those of an address',
      of: 'a process',
      bound: [],
      by: '`max_connections` and `max_connections_of_address` of the file',
      beyond: 'A new connection gets the place of the oldest that has shown no key; without one it is closed at once, and counted.',
      others: 'Where all are taken by others with keys, theirs too; an address has 64 of 512 unless told.',
      test: 'test/api/doors/seats.test.ts',
      attack: ['door-connections', 'door-new-connections'],
    },
    {
      what: 'Connections of a door',
      of: 'a tenant',
      bound: [],
      by: '`max_connections_of_tenant` of the file: half of all, unless the door has one key',
      beyond:
        'What came is taken, and the connection closed; calls of gRPC get `RESOURCE_EXHAUSTED` with RetryInfo. It is counted, and shown among its rejections.',
      others: 'nothing',
      test: 'test/api/doors/syslog-crowd.test.ts',
    },
    {
      what: 'Handshakes of TLS of a door',
      of: 'a process',
      bound: [
        handshakes('MAX_HANDSHAKES', 'at once'),
        handshakes('MAX_ADDRESS_HANDSHAKES', 'at once of an address'),
        handshakes('HANDSHAKES_PER_SECOND', 'a second'),
        handshakes('ADDRESS_HANDSHAKES_PER_SECOND', 'a second of an address'),
      ],
      beyond: 'The connection is closed before its handshake, and counted.',
      others: 'nothing by one address; by many, new connections of a door with TLS wait for handshakes that end, which have 10 s.',
      test: 'test/api/doors/handshake-bounds.test.ts',
    },
    {
      what: 'Frames of syslog over TCP',
      of: 'a connection',
      bound: [
        framer('MAX_FRAME_BYTES', 'bytes a frame'),
        connection('BATCH_BYTES', 'bytes until they are on the log'),
        connection('FRAME_MS', 'ms for a frame to come whole'),
      ],
      beyond: 'A longer frame is passed over, nothing more is read, or the connection is closed.',
      others: 'nothing',
      test: 'test/api/doors/syslog-door.test.ts',
      attack: ['door-octet-counts', 'door-endless-lines', 'door-slow-bytes'],
    },
    {
      what: 'Bytes of such frames that have not come whole, and as many that are not on the log; a quarter of a tenant, or of an address without a key',
      of: 'a process',
      bound: [budget('MAX_HELD_BYTES', 'bytes of each'), budget('FREE_BYTES', 'bytes that each may have in any case')],
      beyond: 'The longest frame ends where it stands, with its connection; of what waits for the log nothing more is read.',
      others: 'nothing, unless they have most of all',
      test: 'test/api/doors/frame-budget.test.ts',
      attack: ['door-slow-bytes', 'door-frames'],
    },
    {
      what: 'Datagrams of a door that wait; half of them of a key, a quarter of an address',
      of: 'a process',
      bound: [udp('MAX_QUEUE_BYTES', 'bytes')],
      beyond: 'They are lost, counted, and shown among the rejections of the tenant.',
      others: 'nothing but of a key of the same door that has its half.',
      test: 'test/api/doors/syslog-door.test.ts',
    },
    {
      what: 'Calls of gRPC; a quarter of the bytes of a tenant',
      of: 'a process',
      bound: [
        admission('MAX_EXPECTED_BYTES', 'bytes of messages that have not come'),
        grpc('MAX_CALLS', 'calls of a connection'),
        grpc('MAX_SESSION_MB', 'MB of HTTP/2 of a connection'),
        grpc('MAX_METADATA_BYTES', 'bytes of metadata'),
        grpc('MESSAGE_MS', 'ms for a message to come'),
      ],
      beyond: '`RESOURCE_EXHAUSTED` with RetryInfo, or `DEADLINE_EXCEEDED`',
      others: 'nothing',
      test: 'test/api/doors/otlp-grpc-door.test.ts',
      attack: ['grpc-long-messages', 'grpc-resets', 'grpc-headers'],
    },
    {
      what: 'Records that a door pulls, of each of its topics',
      of: 'a process',
      bound: [
        source('MAX_PARTITION_BYTES', 'bytes of a fetch of a partition, as they are compressed'),
        source('MAX_FETCH_BYTES', 'bytes of a fetch of a broker'),
        group('MAX_GROUP_BYTES', 'bytes until they are on the log and committed'),
        group('MAX_GROUP_RECORDS', 'records of them'),
        kafkaIntake('MAX_AT_ONCE', 'bodies of them at once'),
      ],
      beyond: 'Nothing more is read.',
      others: 'nothing',
      test: 'test/api/doors/record-bodies.test.ts',
    },
    {
      what: 'The file of doors, and files of certificates',
      of: 'a process',
      bound: [
        file('MAX_DOORS', 'doors'),
        file('MAX_CLIENTS', 'clients of a door'),
        kafkaFile('MAX_BROKERS', 'brokers of a door'),
        kafkaFile('MAX_TOPICS', 'topics of a door'),
        file('MAX_ALL_TOPICS', 'topics of all doors'),
        file('MAX_FILE_BYTES', 'bytes'),
        tls('MAX_PEM_BYTES', 'bytes of a certificate'),
      ],
      beyond: 'The start is refused; a certificate that is read again is refused.',
      others: 'nothing',
      test: 'test/api/doors/doors-file.test.ts',
    },
  ],
};
