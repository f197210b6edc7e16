/** The processes that a process has started and that run; none where there is no /proc. */
export function childrenOf(pid: number): readonly number[];
/** The program and the arguments of a process; none of one that is gone. */
export function commandOf(pid: number): readonly string[];
