// What a running engine says of its sessions and statements, within bounds that no customer can exceed.
import type {
  CancelAnswer,
  CancelScope,
  QueriesAnswer,
  QueriesRequest,
  RunningQuery,
  StatementsAnswer,
  StatementsRequest,
} from "../contracts/queries.ts";
import type { InstanceSpec } from "../contracts/instance-spec.ts";
import type { EngineContext } from "./engine.ts";

/** An answer of an engine, which runs. */
type Awake<Answer> = Omit<Answer, "isAsleep">;

/**
 * Reads and ends what runs in an engine, as its administrator, for whom connections are reserved. Sessions of Pilvi and
 * processes of the engine itself are neither listed nor ended. Every call ends within seconds.
 */
export interface EngineInspection<S extends InstanceSpec = InstanceSpec> {
  /** The id of each begins with its `sessionOf` and a hyphen. @throws when the engine does not answer. */
  queries(context: EngineContext<S>, request: QueriesRequest): Promise<Awake<QueriesAnswer>>;
  /**
   * Asks the engine to end a statement or a session, if it is still the same.
   * @param id of an earlier answer. @throws when the engine does not answer.
   */
  cancel(context: EngineContext<S>, id: string, scope: CancelScope): Promise<CancelAnswer["outcome"]>;
  /** Left out by an engine that keeps no statistics of statements. @throws when the engine does not answer. */
  statements?(context: EngineContext<S>, request: StatementsRequest): Promise<Awake<StatementsAnswer>>;
  /** Begins the statistics of statements anew. @throws when the engine does not answer. */
  resetStatements?(context: EngineContext<S>): Promise<void>;
}

/** The engine's number for the session, which clients have from their login too. */
export function sessionOf({ id }: Pick<RunningQuery, "id">): number {
  return Number(id.slice(0, id.indexOf("-")));
}

/** How long the engine may take for an answer. */
export const INSPECTION_TIMEOUT_MS = 5_000;
