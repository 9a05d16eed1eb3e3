// Errors that all engines share.
import { PublicError } from "../lib/errors.ts";

/** The engine cannot save what it holds, so a stop would lose it. The owner must learn of that. */
export class PersistenceError extends PublicError {
  override name = "PersistenceError";
}

/** A customer made more or larger things than the host reads of an engine; the message names them for the customer. */
export class BeyondBounds extends PublicError {
  override name = "BeyondBounds";
}

/** A client's transaction keeps a running engine from its spec for longer than the host waits. */
export class LockTimeout extends PublicError {
  override name = "LockTimeout";

  constructor(cause: unknown) {
    super("A client's open transaction is in the way, so the change is not in force yet.", cause);
  }
}
