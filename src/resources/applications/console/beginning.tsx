// How a first deployment begins: from the folder of an application, or with Git.
import { Code } from "../../../console/parts/copy.tsx";
import { commandText } from "../../../console/parts/command.ts";
import { Section } from "../../../console/parts/layout.tsx";
import { useCan } from "../../../console/parts/session.ts";

/** For sessions that may deploy. @param slug that of an application that exists; without it, the commands make the application as well. */
export function Beginning({ slug }: { slug?: string }) {
  const canWrite = useCan("applications:write");
  if (!canWrite) return null;
  const git = `${location.origin}/git/${slug ?? "APPLICATION"}.git`;
  return (
    <div className="mt-6 grid grid-cols-1 gap-x-8 md:grid-cols-2">
      <Section
        title="From a folder"
        note={
          slug === undefined
            ? "In the folder of your code: makes the application, uploads the folder, and ends with an address. Pilvi's README says how to install the command."
            : "In the folder of your code: uploads the folder, and ends with the address. Pilvi's README says how to install the command."
        }
      >
        <Code label="deploy command" text={commandText(["deploy"], {})} />
      </Section>
      <Section title="With Git" note="The password that Git asks for is a token; any user name will do.">
        <Code label="git commands" text={`git remote add pilvi ${git}\ngit push pilvi main`} />
      </Section>
    </div>
  );
}
