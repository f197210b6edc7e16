// The health check of the image: 0 where the instance in this container is ready.
const port = process.env['LOGWEIR_ADMIN_PORT'] || '8082';
try {
  const answer = await fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(4000) });
  if (!answer.ok) process.stdout.write(`${(await answer.text()).slice(0, 2000)}\n`);
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
  process.exitCode = 1;
}
