// `node relay.mjs SOCKET PORT`: takes what comes to a socket of the file system, which every network namespace has, to a port of this one.
import net from 'node:net';

/**
 * A server that joins what comes to it with what is opened for it, until either end is gone.
 * @param {() => net.Socket} open
 */
export const relay = (open) =>
  net.createServer((socket) => {
    const other = open();
    socket.on('error', () => other.destroy()).on('close', () => other.destroy()).pipe(other); // prettier-ignore
    other.on('error', () => socket.destroy()).on('close', () => socket.destroy()).pipe(socket); // prettier-ignore
  });

const [, program, path, port] = process.argv;
if (program === import.meta.filename) relay(() => net.connect(Number(port), '127.0.0.1')).listen(path, () => console.log('there'));
