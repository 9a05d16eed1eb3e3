// The ways in which a statement does not end with a result.
import type { EngineFault } from "../../../api/jsonapi/errors.ts";
import { PublicError } from "../../../lib/errors.ts";
import { storableText } from "../../../lib/storable.ts";
import { MAX_MESSAGE_CHARACTERS } from "./limits.ts";

/** The engine refused the statement, in its own words. */
export class StatementRefused extends PublicError {
  override name = "StatementRefused";
  readonly fault: EngineFault;

  constructor(message: string, fault: EngineFault) {
    super(storableText(message, MAX_MESSAGE_CHARACTERS));
    this.fault = fault;
  }
}

/** The statement cannot run here, or was ended because of a bound. */
export class StatementEnded extends PublicError {
  override name = "StatementEnded";
}

/** Several statements left a transaction open, which the engine rolls back at the end of the session. */
export class OpenTransaction extends StatementEnded {
  constructor() {
    super("The SQL left a transaction open, which was rolled back.");
  }
}

/** The cluster admitted no session: it is unreachable, or refused the login. */
export class NoSession extends PublicError {
  override name = "NoSession";
}

/** The connection ended in the middle of a message. */
export class ConnectionLost extends Error {
  override name = "ConnectionLost";
}

/** More bytes came than are read for an answer. */
export class BudgetSpent extends Error {
  override name = "BudgetSpent";
}
