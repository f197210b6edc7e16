/** Milliseconds of CPU that this process has used since it began: what a piece of work costs, however busy the machine is. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
