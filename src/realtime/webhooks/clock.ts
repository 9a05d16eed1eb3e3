// The time of webhooks; tests replace it by a clock that they move themselves.

export interface Clock {
  /** Milliseconds since 1970; may jump when the machine's clock is set. */
  wallMs(): number;
  /** Milliseconds since some moment; never jumps. */
  steadyMs(): number;
  /** @returns a function that cancels the task. */
  after(delayMs: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  steadyMs: () => performance.now(),
  after: (delayMs, task) => {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};
