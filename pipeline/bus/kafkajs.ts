/** kafkajs, as all of this room imports it. */
import './record-checksum.ts';
import './kafkajs-connections.ts';
import './kafkajs-fetches.ts';
import kafkajs from 'kafkajs';

export { kafkajs };
