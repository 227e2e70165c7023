import type { Awaitable } from '../api/point.js';

/** A call that did not end within its time. What the call goes on to do is ignored. */
export class DeadlineExceeded extends Error {
  constructor(readonly milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

/** The result of `call`, or a rejection with DeadlineExceeded when it takes longer than so many milliseconds. */
export async function withinDeadline<T>(call: () => Awaitable<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineExceeded(milliseconds)), milliseconds);
  });
  try {
    return await Promise.race([call(), late]);
  } finally {
    clearTimeout(timer);
  }
}
