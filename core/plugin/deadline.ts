/** Something did not end within its time. What it goes on to do is ignored. */
export class DeadlineExceeded extends Error {
  constructor(readonly milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

/**
 * The outcome of `work`, or a rejection with DeadlineExceeded when it takes longer than so many milliseconds. Waiting
 * does not keep the process from ending, unless `keepAlive` says so.
 */
export async function withinDeadline<T>(work: T | PromiseLike<T>, milliseconds: number, keepAlive = false): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineExceeded(milliseconds)), milliseconds);
    if (!keepAlive) timer.unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
