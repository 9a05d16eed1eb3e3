// Rotated passwords of what is attached: a process gets them at its next start, such as a wake, and no start of its own.
import type { KindContext } from "../../kind.ts";
import { writeProcessSpec, type ApplicationProcess } from "./processes.ts";
import { digestOf, type UnplacedSpec } from "./spec.ts";

type Placed = Pick<ApplicationProcess, "id" | "deploymentId" | "sealedSpec" | "digest">;

/** The spec that a process should have now. */
interface Present {
  deployment: { id: string };
  spec: UnplacedSpec;
  digest: string;
}

/**
 * Gives processes the passwords that were rotated; the host has them wait for the next start.
 * @param presentOf undefined for a process that is no longer wanted.
 * @returns all processes, as they are now.
 */
export async function followRotation<Process extends Placed>(
  { db, vault }: Pick<KindContext, "db" | "vault">,
  processes: readonly Process[],
  presentOf: (process: Process) => Present | undefined,
): Promise<Process[]> {
  return await Promise.all(
    processes.map(async (process) => {
      const { id } = process;
      const present = presentOf(process);
      // A process of another deployment is replaced, even by one with the same release.
      if (present?.deployment.id !== process.deploymentId || present.digest === process.digest)
        return process;
      const former = JSON.parse(vault.open(process.sealedSpec, id)) as UnplacedSpec;
      const rotated = withPasswordsOf(former, present.spec);
      if (rotated === null || !hasSameCredentials(rotated, present.spec)) return process;
      const digest = digestOf(present.deployment, rotated);
      if (digest === process.digest) return process;
      // Where more has changed, the process keeps the rest of its former spec until the whole present one is in force.
      const spec = digest === present.digest ? present.spec : rotated;
      const next = { ...process, sealedSpec: vault.seal(JSON.stringify(spec), id), digest };
      await writeProcessSpec(db, next);
      return next;
    }),
  );
}

/** Whether all that is attached is the same: the addresses have the passwords in them. */
function hasSameCredentials({ credentials = [], variables }: UnplacedSpec, present: UnplacedSpec): boolean {
  return credentials.every((name) => variables[name] === present.variables[name]);
}

/**
 * The former spec with the passwords of the present; null for a process whose passwords the host does not keep apart, as
 * those of earlier releases. Where the address has changed as well, the result is no present spec.
 */
export function withPasswordsOf(former: UnplacedSpec, present: UnplacedSpec): UnplacedSpec | null {
  const names = former.credentials ?? [];
  const variables = { ...former.variables };
  for (const name of names.filter((each) => !each.endsWith("_URL"))) {
    const [before, after] = [former.variables[name] ?? "", present.variables[name] ?? ""];
    if (before === "" || before === after) continue;
    for (const each of names) variables[each] = (variables[each] ?? "").replaceAll(before, () => after);
  }
  return names.length === 0 ? null : { ...former, variables };
}
