// The addresses of the console: pages of its own, pages of each kind, and pages without a session.
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Outlet,
} from "@tanstack/react-router";
import { Suspense } from "react";
import { kinds } from "./kinds.ts";
import { pages, publicPages } from "./pages/index.ts";
import { Failure, Loading, PageFrame } from "./parts/layout.tsx";
import type { ConsolePage, RawSearch } from "./parts/page.tsx";
import { NotFound } from "./shell/not-found.tsx";
import { Shell } from "./shell/shell.tsx";

function Waiting() {
  return (
    <div className="mx-auto w-full max-w-5xl px-4 pt-8 sm:px-8">
      <Loading />
    </div>
  );
}

/** Drawing the page again is no use: a part that could not be loaded stays missing until the page is. */
function PageError({ error }: ErrorComponentProps) {
  return (
    <PageFrame title="Something went wrong">
      <Failure error={error} retry={() => location.reload()} />
    </PageFrame>
  );
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: () => (
    <Shell>
      <Suspense fallback={<Waiting />}>
        <Outlet />
      </Suspense>
    </Shell>
  ),
});

function routeOf(parent: typeof root | typeof shell, { path, parseSearch, component: Page }: ConsolePage) {
  return createRoute({
    getParentRoute: () => parent as typeof root,
    path,
    validateSearch: (raw: RawSearch) => parseSearch(raw),
    component: () => (
      <Suspense fallback={<Waiting />}>
        <Page />
      </Suspense>
    ),
    errorComponent: PageError,
  });
}

/** Addresses that lead nowhere keep the navigation. */
const nowhere = createRoute({ getParentRoute: () => shell, path: "$", component: NotFound });

const inside = [...pages, ...kinds.flatMap((kind) => kind.pages)];

export const router = createRouter({
  routeTree: root.addChildren([
    shell.addChildren([...inside.map((page) => routeOf(shell, page)), nowhere]),
    ...publicPages.map((page) => routeOf(root, page)),
  ]),
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
});

const publicPaths = new Set(publicPages.map(({ path }) => path));

/** Opens the page for signing in, which leads back to the present page. */
export function leadToSignIn(): void {
  const { pathname, searchStr } = router.state.location;
  if (publicPaths.has(pathname)) return;
  const next = pathname === "/" ? undefined : pathname + searchStr;
  void router.navigate({ to: "/sign-in", search: { next } as never });
}
