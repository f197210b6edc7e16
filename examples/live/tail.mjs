// Prints the messages of a query as they arrive, resumes where it was when the connection is lost, and prints what it missed.
//   node examples/live/tail.mjs ws://127.0.0.1:8080/ws/livetail/1 KEY 'level:error'
import WebSocket from 'ws';

const [url, key, query] = process.argv.slice(2);
let resume;
/** Entries behind the last position: they come again after a lost connection. */
let unsure = [];

function connect() {
  const socket = new WebSocket(url, ['logweir.v1', `logweir.bearer.${key}`]);
  let repeated = unsure;
  unsure = [];
  socket.on('open', () => socket.send(JSON.stringify({ query, control: true, ...(resume === undefined ? { since: '-1m' } : { resume }) })));
  socket.on('message', (data) => {
    const text = data.toString();
    const message = JSON.parse(text);
    if (message._control === undefined) {
      unsure.push(text);
      const at = repeated.indexOf(text);
      if (at < 0) process.stdout.write(`${message._time} ${message._msg}\n`);
      else repeated.splice(at, 1);
      return;
    }
    const { type, position, count, detail } = message._control;
    if (position !== undefined) [resume, unsure] = [position, []];
    if (type === 'backfill') repeated = [];
    if (type === 'dropped') process.stderr.write(`${count} entries were dropped.\n`);
    if (type === 'error') process.stderr.write(`${detail}\n`);
  });
  socket.on('error', ({ message }) => process.stderr.write(`${message}\n`));
  socket.on('close', () => setTimeout(connect, 1000));
}

connect();
