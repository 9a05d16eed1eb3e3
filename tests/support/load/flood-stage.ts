// A Pilvi for floods: the places that are flooded, and the well-behaved clients that use other instances meanwhile.
import { readdirSync } from "node:fs";
import { processesOf } from "../pilvi/databases.ts";
import { TOKEN } from "../pilvi/pilvi.ts";
import { createServer } from "../pilvi/websockets.ts";
import floods from "../../attack/data/floods.json" with { type: "json" };
import { HostileLoad, type Place } from "./hostile-load.ts";
import type { WellBehavedPlace } from "./well-behaved.ts";

/** The descriptors that each process of the Pilvi may open: no more than a flood takes. */
const OPEN_FILES = 20_000;

/** A line of `tests/attack/data/floods.json`. */
export type FloodKind = (typeof floods)[number];

export const FLOODS: readonly FloodKind[] = floods;

export class FloodStage {
  readonly hostileLoad: HostileLoad;
  readonly #serverId: string;
  readonly #places: Record<string, { port: number; password: string }>;
  /** A client of another Postgres, of another cache, of the API with another organization, and of the WebSocket cluster. */
  readonly wellBehaved: readonly WellBehavedPlace[];

  private constructor(
    hostileLoad: HostileLoad,
    serverId: string,
    places: Record<string, { port: number; password: string }>,
    wellBehaved: readonly WellBehavedPlace[],
  ) {
    this.hostileLoad = hostileLoad;
    this.#serverId = serverId;
    this.#places = places;
    this.wellBehaved = wellBehaved;
  }

  static async begin(): Promise<FloodStage> {
    const hostileLoad = await HostileLoad.begin({ openFiles: OPEN_FILES });
    const { pilvi, targets, neighbours } = hostileLoad;
    const { server, main } = await createServer(pilvi);
    const websocket = { port: Number(new URL(server.meta.url).port), password: main.attributes.key ?? "" };
    // The flood with a valid token is another organization's.
    const made = await pilvi.run("token", "create", "--name", "neighbour", "--organization", "neighbours");
    const target = (protocol: Place["protocol"]): Place => {
      const found = targets.find((place) => place.protocol === protocol);
      if (found === undefined) throw new Error(`there is no target that speaks ${protocol}`);
      return found;
    };
    const api = { port: pilvi.port, password: TOKEN };
    const places = {
      postgres: target("postgres"),
      mysql: target("mysql"),
      cache: target("redis"),
      api,
      websocket,
    };
    return new FloodStage(hostileLoad, server.id, places, [
      ...neighbours,
      { protocol: "api", port: pilvi.port, password: made.stdout.trim() },
      { protocol: "websocket", ...websocket },
    ]);
  }

  async end(): Promise<void> {
    await this.hostileLoad.end();
  }

  /** The process that a flood of this kind comes to. */
  floodedPid({ at }: FloodKind): number {
    const { pilvi } = this.hostileLoad;
    if (at === "websocket") return processesOf(pilvi, this.#serverId)[0] ?? 0;
    return pilvi.runningPid(at === "api" ? "control" : "gateway");
  }

  /** The descriptors that the flooded process has open. */
  descriptors(kind: FloodKind): number {
    return readdirSync(`/proc/${this.floodedPid(kind)}/fd`).length;
  }

  /** Where a flood goes, and what it says there. */
  orderOf({ at, words }: FloodKind): { port: number; words: Uint8Array } {
    const place = this.#places[at];
    if (place === undefined) throw new Error(`there is nothing to flood that is called ${at}`);
    const said = words
      .replace("PASSWORD", place.password)
      .replace("TOKEN", TOKEN)
      .replace("KEY", place.password);
    return { port: place.port, words: Buffer.from(said, "latin1") };
  }
}
