// The only instance of the host's model, a Postgres behind the gateway: the host's own code, with models of its
// dependencies.
import type { InstanceSpec, PostgresSpec } from "../../../src/contracts/instance-spec.ts";
import type { Observation } from "../../../src/contracts/observation.ts";
import { Copies } from "../../../src/host/backups/copies.ts";
import { Instance } from "../../../src/host/instance/instance.ts";
import { gatewaySocket } from "../../../src/host/os/layout.ts";
import { WarmPool } from "../../../src/host/provisioning/warm-pool.ts";
import { StartLimiter } from "../../../src/host/engine/start-limiter.ts";
import { createLog } from "../../../src/lib/log.ts";
import type { ModelGateway } from "./gateway.ts";
import { ModelLink } from "./link.ts";
import { ModelRunner, type Life, type ModelMachine } from "./machine.ts";

export const MODEL_ID = "db-1";

const log = createLog("host", "silent");

/** The dependencies of an instance. */
export interface ModelDependencies {
  life: Life;
  machine: ModelMachine;
  gateway: ModelGateway;
  onWake(): void;
  onChange(observation: Observation): void;
}

/** The instance of a host that was just started, which the gateway learns of in a moment. */
export function modelInstance(dataDir: string, deps: ModelDependencies): Instance {
  const { life, machine, gateway, onChange } = deps;
  const link = new ModelLink(log, gatewaySocket(dataDir), life, {
    wake: () => {
      deps.onWake();
      instance.wake();
    },
    idle: () => instance.idle(),
    users: (_id, question) => instance.sleep.refreshUsers(question),
    woken: () => undefined,
    addresses: { expect: () => undefined, meet: () => undefined, stopExpecting: () => undefined },
  });
  const postgres = { name: "postgres", version: "18.4", program: "/nowhere", env: {} } as const;
  const instance: Instance = new Instance(MODEL_ID, {
    settings: {
      dataDir,
      enginesDir: dataDir,
      ownEngines: [{ ...postgres, origin: "system", home: dataDir }],
      bind: "127.0.0.1",
      certificate: null,
      warmSlots: 0,
      cgroups: null,
      allowPrivateWebhooks: false,
    },
    slots: new WarmPool(dataDir, 0, log),
    starts: new StartLimiter(),
    gateway: link,
    edge: {
      measureUse: () => Promise.resolve(),
      idleSeconds: () => 0,
      drain: () => Promise.resolve(true),
      isFree: () => Promise.resolve(true),
    },
    // The machine has no other users.
    allotUid: () => null,
    stop: () => Promise.resolve(),
    backups: {
      copies: new Copies(),
      restore: () => Promise.reject(new Error("there is no origin")),
      shipLastLog: () => Promise.resolve(),
    },
    addresses: { hold: async () => {}, admit: () => {}, settle: () => {}, drop: () => {} },
    log,
    runner: (parts) => new ModelRunner(parts, machine, life),
    onChange,
  });
  gateway.meet(link);
  return instance;
}

export function specWith(overrides: Partial<PostgresSpec>): PostgresSpec {
  return {
    kind: "postgres",
    id: MODEL_ID,
    engines: ["postgres"],
    users: usersOf(1),
    exposure: { port: 20_000, scope: "loopback", through: "gateway" },
    sleepAfterSeconds: 60,
    version: null,
    memoryBytes: 1,
    cpus: null,
    maxConnections: 10,
    databases: [],
    ...overrides,
  };
}

export function usersOf(count: number): InstanceSpec["users"] {
  return Array.from({ length: count }, (_, index) => ({ name: `user${index}`, verifier: "" }));
}
