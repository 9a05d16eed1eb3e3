// A protocol of other programs beside the API, such as git's: it answers requests below an address of its own.
import type { Principal } from "../auth/auth.ts";
import type { Waits } from "./wait.ts";

/** A request of a client whose token is valid. */
export interface ProtocolRequest {
  request: Request;
  url: URL;
  /** The variable parts of the path. */
  params: Record<string, string>;
  principal: Principal;
  requestId: string;
  /** Aborted when the process ends. */
  closing: AbortSignal;
  /** The rights of the principal may be gone after a wait. */
  waiters: Waits;
}

/** A protocol, whose clients send a token as the password of HTTP's Basic authentication. */
export interface Protocol {
  /** From the root, such as `/git/:repository/*`. */
  path: string;
  /** @throws ApiError, whose message is answered as a text, since such clients show no JSON. */
  handle(request: ProtocolRequest): Promise<Response>;
}
