import { adminRoutes } from '../../api/admin/admin-routes.ts';
import { deletionRoutes } from '../../api/admin/deletion-routes.ts';
import { processorSettingRoutes } from '../../api/admin/processor-settings.ts';
import { sessionCodeRoute } from '../../api/admin/session-codes.ts';
import { ADMIN_COMMANDS } from '../../cli/admin-commands.ts';
import { commands } from '../../cli/main.ts';
import { describedEndpoints } from '../../main/description.ts';

const NOTHING = {} as never;

/** Every endpoint as `METHOD path`, and every command of the CLI, with those of `admin`. */
export function everyName(): { readonly routes: readonly string[]; readonly commands: readonly string[] } {
  const admin = [
    ...adminRoutes(NOTHING, NOTHING),
    ...deletionRoutes(NOTHING),
    sessionCodeRoute(NOTHING, NOTHING, ''),
    ...processorSettingRoutes(NOTHING, NOTHING, NOTHING),
  ];
  const routes = [
    ...describedEndpoints().flatMap(({ methods, path: at }) => methods.map((method) => `${method} ${at}`)),
    ...admin.map(({ method, path: at }) => `${method} ${at}`),
  ];
  return { routes, commands: [...commands.map(({ name }) => name), ...ADMIN_COMMANDS.map(({ name }) => `admin ${name}`)] };
}
