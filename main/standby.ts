/**
 * A process that is started before what it needs is there: it loads its modules while the engines start, which takes as long, and begins when its
 * supervisor sends it where they are. Without `--standby` it begins at once.
 */
export const STANDBY = '--standby';

/** What the supervisor sends: the variables (`LOGWEIR_…`) that the process then has, in place of those that it was started with. */
export type Begin = { readonly type: 'begin'; readonly env: Readonly<Record<string, string>> };

const isLogweir = (name: string): boolean => name.startsWith('LOGWEIR_');

/** The message for a process that stands by. */
export function beginWith(env: NodeJS.ProcessEnv): Begin {
  const own = Object.entries(env).filter((entry): entry is [string, string] => isLogweir(entry[0]) && entry[1] !== undefined);
  return { type: 'begin', env: Object.fromEntries(own) };
}

/** Resolves when this process may begin, with its environment as it then is. One whose supervisor has gone ends. */
export async function untilBegun(argv: readonly string[] = process.argv): Promise<void> {
  if (!argv.includes(STANDBY)) return;
  const end = (): never => process.exit(0);
  process.once('disconnect', end);
  const { env } = await new Promise<Begin>((resolve) => process.once('message', (message) => resolve(message as Begin)));
  process.off('disconnect', end);
  for (const name of Object.keys(process.env)) if (isLogweir(name)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
}
