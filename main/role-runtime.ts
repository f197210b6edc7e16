/** glibc gives every thread an arena of its own, and what zlib and the network free in them stays there. */
const MALLOC = { MALLOC_ARENA_MAX: '2' };
/**
 * For a backlog. Once glibc has freed a buffer of megabytes, it takes the next ones from the heap, where they leave holes: up to 80 MiB;
 * with a threshold of its own they are given back to the system. A sink needs 150 MiB of V8's heap at most. V8 collects its heap of 25 MiB
 * when it has grown by 40 %, a share that follows from how much it may take, and counts the buffers that records lie in as growth: it did
 * so for every 16 MB that came, which was 40 % of the sink's CPU. Below 96 MiB, buffers included, it is left alone.
 * `--expose-gc` is for `main/roles/garbage.ts`.
 */
const SINK = {
  flags: ['--expose-gc', '--max-old-space-size=512', '--initial-old-space-size=96'],
  env: { MALLOC_MMAP_THRESHOLD_: '32768' },
};

export type Runtime = { readonly flags: readonly string[]; readonly env: Readonly<Record<string, string>> };

/** How a process that does these roles is started: Node's flags, and the environment that it has unless another one is given. */
export function runtimeOf(roles: readonly string[]): Runtime {
  const own = roles.includes('sink') ? SINK : { flags: [], env: {} };
  return { flags: own.flags, env: { ...MALLOC, ...own.env } };
}
