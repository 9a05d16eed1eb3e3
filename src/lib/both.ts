// Waits for two tasks that run at the same time.

/** The results of two tasks. A failure is thrown once both have ended, so that nothing of them is under way any more. */
export async function both<First, Second>(
  first: Promise<First>,
  second: Promise<Second>,
): Promise<[First, Second]> {
  await Promise.allSettled([first, second]);
  return await Promise.all([first, second]);
}
