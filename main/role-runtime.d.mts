/** How a process that does these roles is started: Node's flags, and the environment that it has unless another one is given. */
export function runtimeOf(roles: readonly string[]): {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};
