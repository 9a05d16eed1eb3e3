// Gives up the wait for something that goes on by itself.

/** The result of a promise. @throws the reason of the signal as soon as that is aborted; nobody learns then how the promise ends. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  // Nobody would handle a failure after the abort.
  promise.catch(() => undefined);
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
