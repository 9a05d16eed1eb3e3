// The builds and commands of this host that wait, and which of them begins next: owners have their turns, so that the
// builds of one organization keep those of no other waiting. Within an owner they begin in the order of their coming.
import type { BuildFile, BuildSpec } from "../../contracts/builds.ts";
import { OwnerTurns } from "../../lib/owner-turns.ts";

/** The most commands that run at once beside the builds, for each build that may run: they mostly wait for others. */
const COMMANDS_FOR_BUILD = 8;

/** What the queue needs to know of a build. */
type QueuedSpec = Pick<BuildSpec, "id" | "environment" | "organization" | "release" | "terminal">;

interface Queued {
  id: string;
  environment: string;
  owner: string;
  /** A person may keep it for an hour, so it takes no place; the number of terminals has a bound of its own. */
  hasTerminal: boolean;
}

/** A build that may begin. */
export interface BegunBuild {
  id: string;
  /** Frees its place; called once. */
  end(): void;
}

/** What waits and what runs of either kind. A command does not wait for builds, nor a build for commands. */
interface Line {
  waiting: Queued[];
  readonly running: Set<Queued>;
  readonly turns: OwnerTurns;
}

export class BuildQueue {
  readonly #atOnce: number;
  readonly #builds = newLine();
  readonly #commands = newLine();

  /** @param atOnce how many builds run at once. */
  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** How many wait. */
  get size(): number {
    return this.#builds.waiting.length + this.#commands.waiting.length;
  }

  /** Loads the builds of an earlier host: queued builds wait again, and begun builds count as turns of their owners. */
  load(kept: readonly BuildFile[]): void {
    const former = kept.flatMap(({ build: { startedAt }, spec }) =>
      startedAt === null ? [] : { startedAt, spec },
    );
    for (const { spec } of former.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt)))
      this.#lineOf(spec).turns.remember(ownerOf(spec));
    const waiting = kept.filter(({ build }) => build.state === "queued");
    for (const { spec } of waiting.toSorted((a, b) => a.build.queuedAt.localeCompare(b.build.queuedAt)))
      this.add(spec);
  }

  add(spec: QueuedSpec): void {
    const { id, environment, terminal: hasTerminal = false } = spec;
    this.#lineOf(spec).waiting.push({ id, environment, owner: ownerOf(spec), hasTerminal });
  }

  /** Takes a build out that waits, if it does. */
  remove(id: string): void {
    for (const line of [this.#builds, this.#commands])
      line.waiting = line.waiting.filter((each) => each.id !== id);
  }

  /** Gives a place to the build or command whose turn it is; null when nothing that waits has room. */
  begin(): BegunBuild | null {
    return begun(this.#builds, this.#readyBuilds()) ?? begun(this.#commands, this.#readyCommands());
  }

  #readyBuilds(): Queued[] {
    const { running, waiting } = this.#builds;
    return running.size < this.#atOnce ? waiting : [];
  }

  /** The first command of an environment waits for no other. */
  #readyCommands(): Queued[] {
    const { running, waiting } = this.#commands;
    if (running.size < this.#atOnce * COMMANDS_FOR_BUILD) return waiting;
    const busy = new Set([...running].map(({ environment }) => environment));
    return waiting.filter(({ environment, hasTerminal }) => hasTerminal || !busy.has(environment));
  }

  #lineOf({ release }: QueuedSpec): Line {
    return release === undefined ? this.#builds : this.#commands;
  }
}

function newLine(): Line {
  return { waiting: [], running: new Set(), turns: new OwnerTurns() };
}

/** Orders without an organization count for their environment. */
function ownerOf({ organization, environment }: QueuedSpec): string {
  return organization ?? environment;
}

function begun(line: Line, ready: readonly Queued[]): BegunBuild | null {
  const next = line.turns.next(ready);
  if (next === undefined) return null;
  line.waiting = line.waiting.filter((each) => each !== next);
  if (!next.hasTerminal) line.running.add(next);
  const endTurn = line.turns.begin(next.owner);
  const end = () => {
    line.running.delete(next);
    endTurn();
  };
  return { id: next.id, end };
}
