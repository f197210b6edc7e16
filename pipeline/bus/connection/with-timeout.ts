/**
 * What the promise resolves to, if it does within `ms` milliseconds; what comes later is ignored, and `onLate` is called. For all that
 * is requested of kafkajs: it repeats a look-up for minutes, and where a connection breaks while another one to the same broker is opened, a
 * request may never be answered at all, nor time out.
 */
export async function withTimeout<T>(ms: number, promise: Promise<T>, onLate?: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onLate?.();
      reject(new Error(`Kafka did not answer within ${String(ms)} ms.`));
    }, ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
