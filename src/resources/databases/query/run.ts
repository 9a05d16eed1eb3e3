// Runs a statement at a cluster as its customer does, within a time and until its caller has gone.
import { presentableSentence } from "../../../lib/presentable.ts";
import type { Protocol } from "../types.ts";
import { BudgetSpent, ConnectionLost, NoSession, StatementEnded, StatementRefused } from "./faults.ts";
import { READ_BYTES } from "./limits.ts";
import { MysqlSession } from "./mysql.ts";
import { PostgresSession } from "./postgres.ts";
import { Result } from "./result.ts";
import type { EngineSession, Statement, StatementLogin } from "./session.ts";

/** An engine that does not pass a cancel on in this time loses the connection all the same. */
const CANCEL_MS = 5_000;

/** The engine ends a statement by itself only where Pilvi is late with its cancel, or has gone itself. */
const GRACE_MS = CANCEL_MS;

const SESSIONS: Record<Protocol, new (login: StatementLogin, engineTimeoutMs: number) => EngineSession> = {
  mysql: MysqlSession,
  postgres: PostgresSession,
};

/** A result, and how long the engine took for it. */
export interface TimedResult {
  result: Result;
  durationMs: number;
}

/**
 * Logs in, which wakes a cluster that sleeps, and runs the statement. The engine cancels the statement when the time is
 * over or the caller has gone.
 * @throws StatementRefused, StatementEnded, NoSession
 */
export async function runStatement(
  login: StatementLogin,
  statement: Statement,
  gone: AbortSignal,
): Promise<TimedResult> {
  const session = new SESSIONS[login.protocol](login, statement.timeoutMs + GRACE_MS);
  const deadline = AbortSignal.timeout(statement.timeoutMs);
  const stop = AbortSignal.any([deadline, gone]);
  let ending: Promise<void> | undefined;
  const end = () => void (ending ??= endStatement(session));
  stop.addEventListener("abort", end, { once: true });
  try {
    stop.throwIfAborted();
    return await runIn(session, statement);
  } catch (error) {
    if (!stop.aborted) throw publicFault(error);
    const seconds = statement.timeoutMs / 1000;
    throw new StatementEnded(
      deadline.aborted
        ? `The statement was not done after ${seconds} s and was canceled.`
        : "The statement was canceled.",
    );
  } finally {
    stop.removeEventListener("abort", end);
    await ending;
    session.close();
  }
}

async function runIn(session: EngineSession, statement: Statement): Promise<TimedResult> {
  await session.open().catch((error: unknown) => {
    throw error instanceof StatementRefused ? new NoSession(refusedLogin(error), error) : error;
  });
  const result = new Result(statement.maxRows);
  const startedMs = performance.now();
  try {
    await session.run(statement, result);
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error;
    await endStatement(session);
    if (!statement.isReadOnly) {
      throw new StatementEnded(
        `The result is larger than ${READ_BYTES / 1024 ** 2} MiB. The statement was canceled, and its transaction rolled back.`,
      );
    }
    result.endEarly();
  }
  return { result, durationMs: performance.now() - startedMs };
}

/** The connection stays until the engine has the cancel, since the gateway finds the statement by it. */
async function endStatement(session: EngineSession): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, CANCEL_MS);
  await Promise.race([session.cancel().catch(() => undefined), late]);
  clearTimeout(timer);
  session.close();
}

function publicFault(error: unknown): Error {
  const isPublic =
    error instanceof StatementRefused || error instanceof StatementEnded || error instanceof NoSession;
  if (isPublic) return error;
  if (error instanceof ConnectionLost)
    return new StatementEnded("The engine closed the connection before the statement was done.");
  return new NoSession("The cluster cannot be reached at its address.", error);
}

function refusedLogin(error: StatementRefused): string {
  return presentableSentence(`The engine refused the login: ${error.message}`);
}
