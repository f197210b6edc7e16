/** What the program of a worker has of the process that has started it (worker-process.ts): the pipe that is its file 3, both ways. */
import { Socket } from 'node:net';
import { frameOf, FrameReader, PING, PONG, type Frame } from './frames.ts';

const PIPE = 3;

/** Hands over frames, answers whether it is there, and ends this process with the other one. */
export function openWorkerPipe(take: (frame: Frame) => void): Socket {
  const pipe = new Socket({ fd: PIPE, readable: true, writable: true });
  const reader = new FrameReader((frame) => {
    if (frame.type === PING) sendFrames(pipe, frameOf(PONG));
    else take(frame);
  });
  pipe.on('data', (bytes: Buffer) => {
    reader.take(bytes);
  });
  // the app process has exited
  for (const end of ['end', 'error', 'close']) pipe.on(end, () => process.exit(0));
  // a terminal ends the whole group: the app process ends first, and then this one
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  return pipe;
}

/** Sends frames in one write. */
export function sendFrames(pipe: Socket, ...frames: (readonly Uint8Array[])[]): void {
  pipe.cork();
  for (const parts of frames) for (const part of parts) pipe.write(part);
  pipe.uncork();
}
