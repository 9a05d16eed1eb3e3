// Bounds how long the host may take for what it does at once: a host that hangs must not keep a run.

const TIMEOUT_MS = 60_000;

/** A request that is given up after a minute, with a body or without. */
export function bounded(body?: object): RequestInit {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return body === undefined ? { signal } : { signal, body: JSON.stringify(body) };
}
