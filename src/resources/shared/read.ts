// Reads one resource for an answer: at once or, when the client waits for a status, when it is reached.
import { notFound } from "../../api/errors.ts";
import type { OperationRequest } from "../../api/operation.ts";

/**
 * Reads until the resource has the status that the client waits for, if it waits.
 * @param noun what it is called when there is none.
 * @throws ApiError 404
 */
export async function readOne<Row extends { status: string }>(
  { query: { wait }, signal, waiters }: OperationRequest<unknown, { wait?: string | undefined }>,
  id: string,
  noun: string,
  read: () => Promise<Row | undefined>,
): Promise<Row> {
  const isReached = (row: Row | undefined) => row === undefined || row.status === wait;
  const row = wait === undefined ? await read() : await waiters.until(id, read, isReached, signal);
  if (row === undefined) throw notFound(noun);
  return row;
}
