import type { TailText } from './stream-outlet.ts';

const END = Buffer.from('\n');

/** Entries as JSON lines, and nothing else. */
export const jsonLines: TailText = {
  entry: (text) => Buffer.concat([text, END]),
  control: () => '',
};

/**
 * Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html): an entry is a message whose id is the position behind
 * it; each control message is an event with a name of its own.
 */
export const eventStream: TailText = {
  entry: (text, position) => {
    const rows = text.toString().split('\n');
    // of an entry that pipes made several rows of, the last one carries the place behind it
    return rows.map((row, index) => `${index === rows.length - 1 ? `id: ${position()}\n` : ''}data: ${row}\n\n`).join('');
  },
  control: ({ type, ...message }) => {
    const { position, ...rest } = message;
    const id = typeof position === 'string' ? `id: ${position}\n` : '';
    // EventSource has an event of this name of its own
    return `event: ${type === 'error' ? 'failed' : type}\n${id}data: ${JSON.stringify(rest)}\n\n`;
  },
};
