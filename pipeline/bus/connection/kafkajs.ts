/** kafkajs, as all of this folder imports it. */
import './record-checksum.ts';
import './kafkajs-connections.ts';
import './kafkajs-fetches.ts';
import kafkajs from 'kafkajs';

export { kafkajs };
