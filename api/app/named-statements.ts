import type { QueryRuntime } from '../query/runtime.ts';

/** The runtime, with the request's id in each statement that it has ClickHouse run: as the beginning of its `query_id`. */
export function withRequestIds(runtime: QueryRuntime): QueryRuntime {
  return {
    ...runtime,
    deps: (isEnriched) => {
      const deps = runtime.deps(isEnriched);
      return {
        ...deps,
        runner: (request) => {
          const runner = deps.runner(request);
          return { ...runner, options: { ...runner.options, requestId: request.requestId } };
        },
      };
    },
  };
}
