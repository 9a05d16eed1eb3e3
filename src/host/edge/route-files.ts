// Routes on the disk, a file each, so that the edge has them after every start without a control plane.
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  anyKeptRouteSchema,
  EDGE_ROUTE_FORMAT,
  inTodaysFormat,
  type EdgeRoute,
  type KeptRoute,
} from "../../contracts/edge-route.ts";
import { readJsonAs } from "../../contracts/read.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { replaceFile, syncFile } from "../../lib/files.ts";
import type { Log } from "../../lib/log.ts";
import { routesDir } from "../os/layout.ts";

const SUFFIX = ".json";

export class RouteFiles {
  readonly #dir: string;
  readonly #log: Log;

  constructor(dataDir: string, log: Log) {
    this.#dir = routesDir(dataDir);
    this.#log = log;
  }

  /** All routes that were kept, the latest last; a file that cannot be understood is left out and logged. */
  load(): KeptRoute[] {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const files = readdirSync(this.#dir).filter((name) => name.endsWith(SUFFIX));
    return files.flatMap((name) => this.#read(name)).sort((a, b) => a.sequence - b.sequence);
  }

  /** Keeps a route; resolves when it is on the disk. */
  async keep(sequence: number, route: EdgeRoute): Promise<void> {
    const path = this.#pathOf(route.id);
    replaceFile(path, `${JSON.stringify({ format: EDGE_ROUTE_FORMAT, sequence, route })}\n`, 0o600);
    await failpoint("host.route.kept");
    await syncFile(path);
  }

  /** Forgets a route, which may be absent. */
  forget(id: string): void {
    rmSync(this.#pathOf(id), { force: true });
  }

  #read(name: string): KeptRoute[] {
    try {
      const text = readFileSync(join(this.#dir, name), "utf8");
      const kept = inTodaysFormat(readJsonAs(anyKeptRouteSchema, text, "The route"));
      if (`${kept.route.id}${SUFFIX}` === name) return [kept];
      throw new Error("the file has the name of another route");
    } catch (error) {
      this.#log.error({ error, file: name }, "a route of the edge cannot be read");
      return [];
    }
  }

  #pathOf(id: string): string {
    return join(this.#dir, `${id}${SUFFIX}`);
  }
}
