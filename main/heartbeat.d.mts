/** How often a supervisor looks whether a process says that its event loop turns. */
export const LOOK_MS: number;

/** Whether another process still beats, told by the number of looks. */
export class Heartbeat {
  beat(): void;
  /** Looks once; true when 15 looks have seen nothing since the last beat. */
  look(): boolean;
}
