import { portFault } from '../compose/embedded/ports.ts';
import { StartError } from '../compose/embedded/start-error.ts';
import type { Listener } from './settings.ts';

/** Fails with one sentence when one of the addresses cannot be opened. */
export async function checkListeners(listeners: readonly Listener[]): Promise<void> {
  for (const [index, listener] of listeners.entries()) {
    const { host, hostVariable, port, portVariable } = listener;
    const twin = listeners.slice(0, index).find((other) => port !== 0 && other.port === port && other.host === host);
    if (twin !== undefined) throw new StartError(`${twin.portVariable} and ${portVariable} are both ${port}; they must differ.`);
    const fault = port === 0 ? null : await portFault(port, host);
    if (fault === null) continue;
    if (fault === 'EADDRINUSE') {
      throw new StartError(`Port ${port} on ${host} is already in use; choose another one with ${portVariable}.`);
    }
    if (fault === 'EACCES') {
      throw new StartError(`This user may not open port ${port} on ${host}; choose another one with ${portVariable}.`);
    }
    throw new StartError(`Cannot listen on ${host}, port ${port} (${fault}); check ${hostVariable} and ${portVariable}.`);
  }
}
