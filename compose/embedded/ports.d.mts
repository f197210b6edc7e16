/** Tells why a listener on HOST:PORT would fail ('EADDRINUSE', …); null when it would work. */
export function portFault(port: number, host?: string): Promise<string | null>;

/** Finds COUNT different ports that are free now on 127.0.0.1. Nothing holds them. */
export function freePorts(count: number): Promise<number[]>;

/** Starts a server on ports that are free; on others when somebody takes one of them between the test and the start. */
export function onFreePorts<T>(count: number, start: (ports: number[]) => Promise<T>): Promise<T>;
