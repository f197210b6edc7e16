// Loaded first where a launcher handed over to the pinned Node (main/runtime.mjs): a launcher that is killed cannot pass that on,
// but its channel closes. What this process then does on SIGTERM is its own affair.
process.once('disconnect', () => void process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
