// An application under chaos: what its customer has ordered, what it may therefore answer, and the customer's actions.
import { randomUUID } from "node:crypto";
import type { ApplicationResource } from "../../src/resources/applications/schema.ts";
import type { DeploymentResource } from "../../src/resources/applications/deployments/schema.ts";
import { type Files, TestApplication } from "../support/pilvi/applications.ts";
import { cacheBody, type CacheDocument, type TestPilvi, until } from "../support/pilvi/pilvi.ts";

/** How long an order may take under kills. */
const PATIENCE_MS = 180_000;

/** What the application says of itself. */
export interface Said {
  name: string;
  release: number;
  greeting: string | null;
  hasCache: boolean;
  error?: string;
}

/** What the customer has ordered. */
type Ordered = Omit<Said, "name" | "error">;

/** A server that says who it is, and at `/deep` uses what it is attached to. */
function filesOf(name: string, release: number, hasWorker: boolean): Files {
  const own = JSON.stringify({ name, release });
  return {
    "bunfig.toml": "# This program runs on Bun.\n",
    "package.json": JSON.stringify({ name: "shop", private: true, scripts: { start: "bun server.ts" } }),
    ...(hasWorker && {
      Procfile: "worker: bun worker.ts\n",
      "worker.ts": `console.log("works"); setInterval(() => undefined, 1_000);`,
    }),
    "server.ts": `
      const { DATABASE_URL, REDIS_URL, GREETING, PORT } = process.env;
      const said = { ...${own}, greeting: GREETING ?? null, hasCache: REDIS_URL !== undefined };
      async function use() {
        if (DATABASE_URL !== undefined) {
          const sql = new Bun.SQL(DATABASE_URL, { max: 1, connectionTimeout: 30 });
          try {
            await sql\`select 1\`;
          } finally {
            await sql.close({ timeout: 1 }).catch(() => undefined);
          }
        }
        if (REDIS_URL !== undefined) {
          const redis = new Bun.RedisClient(REDIS_URL, { autoReconnect: false, connectionTimeout: 30_000 });
          try {
            await redis.connect();
            await redis.set("key", "value");
          } finally {
            redis.close();
          }
        }
      }
      Bun.serve({
        port: Number(PORT),
        hostname: "127.0.0.1",
        idleTimeout: 0,
        async fetch(request) {
          if (new URL(request.url).pathname !== "/deep") return Response.json(said);
          try {
            await use();
            return Response.json(said);
          } catch (error) {
            return Response.json({ ...said, error: String(error) }, { status: 500 });
          }
        },
      });
    `,
  };
}

export class ChaoticApplication {
  readonly name: string;
  readonly application: TestApplication;
  readonly host: string;
  readonly instance: string;
  readonly hasWorker: boolean;
  /** Answers that are not among these are wrong; all since the latest rest may still be given. */
  #allowed: Ordered[];
  #ordered: Ordered;
  replicas = 1;
  /** The deployments that served, with the number of their release. */
  readonly #served: { id: string; release: number }[] = [];
  #latestRelease = 1;
  readonly failures: string[] = [];

  private constructor(
    name: string,
    application: TestApplication,
    host: string,
    instance: string,
    hasWorker: boolean,
  ) {
    this.name = name;
    this.application = application;
    this.host = host;
    this.instance = instance;
    this.hasWorker = hasWorker;
    this.#ordered = { release: 1, greeting: null, hasCache: false };
    this.#allowed = [this.#ordered];
  }

  /** Makes and deploys it while nothing is killed. */
  static async create(pilvi: TestPilvi, name: string, hasWorker = false): Promise<ChaoticApplication> {
    const application = await TestApplication.create(pilvi, name);
    const path = `/environments/${application.environmentId}`;
    await pilvi.api("PATCH", path, { shutdown_timeout: 2, sleep_timeout: 1 });
    const { attributes } = await application.environment();
    const { body } = await pilvi.api<{ data: { id: string }[] }>("GET", `${path}/instances`);
    const made = new ChaoticApplication(
      name,
      application,
      attributes.vanity_domain,
      body.data[0]?.id ?? "",
      hasWorker,
    );
    const { id } = await application.deploy(filesOf(name, 1, hasWorker));
    made.#served.push({ id, release: 1 });
    return made;
  }

  /** Orders it under kills; it has no release yet. */
  static async order(pilvi: TestPilvi, name: string): Promise<ChaoticApplication> {
    const key = { "idempotency-key": randomUUID() };
    const body = await patiently(`an order for ${name} is taken`, async () => {
      const answer = await pilvi.api<{ data: ApplicationResource }>(
        "POST",
        "/applications",
        { name, region: "eu-central-1" },
        key,
      );
      return answer.status === 201
        ? answer.body.data
        : fail(`${answer.status} ${JSON.stringify(answer.body)}`);
    });
    const [environment] = body.relationships.environments.data;
    const application = TestApplication.of(pilvi, body.id, environment?.id ?? "");
    const { attributes } = await patiently(
      "it is read",
      async () => (await application.environment()) ?? fail("no"),
    );
    const made = new ChaoticApplication(name, application, attributes.vanity_domain, "", false);
    made.#allowed = [];
    made.#latestRelease = 0;
    return made;
  }

  async delete(): Promise<void> {
    await this.#gone(`/applications/${this.application.id}`);
  }

  async #gone(path: string): Promise<void> {
    await this.#patiently(`${path} is gone`, async () => {
      const { status } = await this.application.pilvi.api("DELETE", path);
      if (status === 404) return true;
      const answer = await this.application.pilvi.api("GET", path);
      return answer.status === 404 ? true : fail(`${status} ${answer.status} ${JSON.stringify(answer.body)}`);
    });
  }

  async makeCache(): Promise<string> {
    const key = { "idempotency-key": randomUUID() };
    const { id } = await this.#patiently("a cache is made", async () => {
      const body = cacheBody({ uses_hibernation: true, hibernation_timeout: 1 });
      const answer = await this.application.pilvi.api<CacheDocument>("POST", "/caches", body, key);
      return answer.status === 201 ? answer.body.data : fail(`${answer.status}`);
    });
    return id;
  }

  /** @param isAttached whether its end detaches it. */
  async deleteCache(id: string, isAttached = false): Promise<void> {
    const isOrdered = isAttached ? this.#allow({ hasCache: false }) : () => undefined;
    await this.#gone(`/caches/${id}`);
    isOrdered();
  }

  get id(): string {
    return this.application.environmentId;
  }

  get ordered(): Ordered {
    return this.#ordered;
  }

  /** Why an answer is wrong; null for an answer that may be given. */
  faultOf(said: Said): string | null {
    if (said.name !== this.name) return `${this.name} got an answer of ${said.name}`;
    const isAllowed = (member: keyof Ordered) => this.#allowed.some((each) => each[member] === said[member]);
    if (isAllowed("release") && isAllowed("greeting") && isAllowed("hasCache")) return null;
    return `${this.name} said ${JSON.stringify(said)}, allowed ${JSON.stringify(this.#allowed)}`;
  }

  /** From now on only what was ordered last may be answered. */
  rest(): void {
    this.#allowed = [this.#ordered];
  }

  isAsOrdered({ name, release, greeting, hasCache }: Said): boolean {
    return name === this.name && Bun.deepEquals({ release, greeting, hasCache }, this.#ordered);
  }

  /** From now on it may answer with a change. @returns what makes the change an order. */
  #allow(change: Partial<Ordered>): () => void {
    this.#allowed.push({ ...this.#ordered, ...change });
    return () => void (this.#ordered = { ...this.#ordered, ...change });
  }

  async deploy(): Promise<void> {
    this.#latestRelease += 1;
    const release = this.#latestRelease;
    const isOrdered = this.#allow({ release });
    const files = filesOf(this.name, release, this.hasWorker);
    const begun = await this.#patiently("an upload is taken", () => this.application.upload(files));
    await this.#follow(begun.id, release, isOrdered);
  }

  async rollBack(random: number): Promise<void> {
    // Releases of the last five deployments that served are kept.
    const recent = this.#served.slice(-4);
    const target = recent[Math.floor(random * recent.length)];
    if (target === undefined) return;
    const isOrdered = this.#allow({ release: target.release });
    const path = `/environments/${this.id}/deployments`;
    const begun = await this.#patiently("a rollback is taken", async () => {
      const body = { release_of: target.id };
      const answer = await this.application.pilvi.api<{ data: DeploymentResource }>("POST", path, body);
      return answer.status < 300
        ? answer.body.data
        : fail(`rollback ${answer.status} ${JSON.stringify(answer.body)}`);
    });
    await this.#follow(begun.id, target.release, isOrdered);
  }

  async #follow(id: string, release: number, isOrdered: () => void): Promise<void> {
    let ended: DeploymentResource | undefined;
    await until(
      `the deployment ${id} of ${this.name} ends`,
      async () => {
        const deployment = await this.application.deployment(id).catch(() => null);
        if (typeof deployment?.attributes.finished_at !== "string") return false;
        ended = deployment;
        return true;
      },
      PATIENCE_MS,
    );
    const { status, failure_reason } = ended?.attributes ?? {};
    if (status === "deployment.succeeded") {
      this.#served.push({ id, release });
      isOrdered();
    } else this.failures.push(`${id} of ${this.name}: ${status} ${failure_reason}`);
  }

  async greet(greeting: string): Promise<void> {
    const isOrdered = this.#allow({ greeting });
    const variables = [{ key: "GREETING", value: greeting }];
    await this.#order("POST", `/environments/${this.id}/variables`, { method: "set", variables });
    isOrdered();
  }

  async attach(what: object): Promise<void> {
    await this.#order("PATCH", `/environments/${this.id}`, what);
  }

  async attachCache(id: string | null): Promise<void> {
    const isOrdered = this.#allow({ hasCache: id !== null });
    await this.attach({ cache_id: id });
    isOrdered();
  }

  async scale(replicas: number): Promise<void> {
    await this.#order("PATCH", `/instances/${this.instance}`, {
      min_replicas: replicas,
      max_replicas: replicas,
    });
    this.replicas = replicas;
  }

  async #order(method: string, path: string, body: unknown): Promise<void> {
    await this.#patiently(`${method} ${path} is taken`, async () => {
      const { status, body: answer } = await this.application.pilvi.api(method, path, body);
      return status < 300 ? true : fail(`${status} ${JSON.stringify(answer)}`);
    });
  }

  #patiently<Result>(what: string, task: () => Promise<Result>): Promise<Result> {
    return patiently(what, task);
  }
}

/** Retries, as clients do, until there is an answer. */
async function patiently<Result>(what: string, task: () => Promise<Result>): Promise<Result> {
  const results: Result[] = [];
  let latest = "";
  const isAnswered = async () => {
    const result = await task().catch((error: unknown) => void (latest = String(error)));
    if (result === undefined) await Bun.sleep(50);
    else results.push(result);
    return results.length > 0;
  };
  await until(what, isAnswered, PATIENCE_MS).catch((error: unknown) => fail(`${String(error)}: ${latest}`));
  return results[0] ?? fail(what);
}

function fail(message: string): never {
  throw new Error(message);
}
