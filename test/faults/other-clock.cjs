// Loaded into a process before its program (`--require`, which workers have too): its clock is FAULTS_CLOCK_OFF_MS ahead of that of the machine. What is measured from one
// moment to another (performance.now, timers) stays.
const off = Number(process.env.FAULTS_CLOCK_OFF_MS);
const { now } = Date;
Date.now = () => now() + off;
Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + off });
globalThis.Date = new Proxy(Date, {
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [Date.now()] : args, made),
});
