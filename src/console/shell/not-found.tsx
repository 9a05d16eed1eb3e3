// The page for an address that leads nowhere.
import { ButtonLink } from "../parts/button.tsx";
import { PageFrame } from "../parts/layout.tsx";

export function NotFound() {
  return (
    <PageFrame title="There is no such page">
      <p className="mt-0 mb-4 text-soft">The address may be mistyped, or what it showed is deleted.</p>
      <ButtonLink to="/">To the overview</ButtonLink>
    </PageFrame>
  );
}
