// Starts the console in its page.
import { CSPProvider } from "@base-ui/react/csp-provider";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { PilviError } from "../sdk/index.ts";
import { notifyError, Toasts } from "./parts/toasts.tsx";
import { leadToSignIn, router } from "./router.tsx";

/** Events keep the data up to date, so an age alone is no reason to read again. */
const FRESH_MS = 60_000;

function handleError(error: unknown): void {
  if (error instanceof PilviError && error.status === 401) leadToSignIn();
}

const cache = new QueryClient({
  queryCache: new QueryCache({ onError: handleError }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, { meta }) => {
      handleError(error);
      // A form shows faults at its fields.
      if (meta?.showsErrors !== true) notifyError(error);
    },
  }),
  // The client repeats what a repetition can help.
  defaultOptions: { queries: { retry: false, staleTime: FRESH_MS } },
});

const place = document.querySelector("#console");
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={cache}>
          <RouterProvider router={router} />
          <Toasts />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
