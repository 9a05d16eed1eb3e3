// Gives up the wait for something that goes on by itself.

/**
 * The result of a promise.
 * @throws the reason of the signal as soon as that is aborted. The result of the promise is dropped then.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
