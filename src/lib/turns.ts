// Turns of the event loop.

/** Whether a promise is pending at the end of this turn of the loop. Waits until it has settled, either way. */
export async function outlastsTurn(promise: Promise<unknown>): Promise<boolean> {
  let isLate = false;
  const end = setImmediate(() => {
    isLate = true;
  });
  await promise.catch(() => {});
  clearImmediate(end);
  return isLate;
}
