// The statement under way, and how the latest one ended.
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { client } from "../../../../console/parts/client.ts";
import type { QueryDocument } from "../../../../sdk/index.ts";

/** The rows that the page shows at most. */
const MAX_ROWS = 1_000;

interface StatementRun {
  statement: string;
  databaseId: string;
  isReadOnly: boolean;
}

/** Runs statements, one at a time; leaving the page cancels. */
export function useRun(clusterId: string, failed: (error: unknown, run: StatementRun) => void) {
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const mutation = useMutation<QueryDocument, Error, StatementRun>({
    mutationFn: async ({ statement, databaseId, isReadOnly }) => {
      const { signal } = (abort.current = new AbortController());
      const query = { statement, read_only: isReadOnly, max_rows: MAX_ROWS };
      return await client.databases.query(clusterId, databaseId, query, { signal });
    },
    meta: { showsErrors: true },
    onError: failed,
  });
  return {
    run: mutation.mutate,
    cancel: () => abort.current?.abort(),
    isRunning: mutation.isPending,
    error: mutation.error,
    result: mutation.data?.data,
    /** A number for each statement that was run. */
    number: mutation.submittedAt,
  };
}
