// An instance as the meters of the host see it. Measuring neither wakes it nor counts as use.
import { isPilvisOwn } from "../../contracts/instance-spec.ts";
import { usageOfGroup } from "../os/cgroup.ts";
import { usageOfTree } from "../os/process-usage.ts";
import type { MeteredInstance } from "../metrics/instance-meter.ts";
import type { Condition } from "../manifest/instance-state.ts";
import type { ManifestFile } from "../manifest/manifest-file.ts";
import type { EngineRunner } from "../engine/runner.ts";
import type { HostSettings } from "../engine/context.ts";

/** The parts of an instance that are measured. */
interface Parts {
  id: string;
  settings: HostSettings;
  file: ManifestFile;
  condition: Condition;
  runner: EngineRunner;
}

export class MeteredEngine {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The instance at this moment; null for an instance that customers have no part in, such as the store. */
  get now(): MeteredInstance | null {
    return seen(this.#parts);
  }
}

function seen({ id, settings, file, condition, runner }: Parts): MeteredInstance | null {
  const { manifest } = file;
  const { liveProcess: process, runnable } = runner;
  if (manifest === null) return null;
  if (isPilvisOwn(manifest.spec)) return null;
  const isAnswering = condition.state === "running" || condition.state === "draining";
  return {
    id,
    process,
    cpus: "cpus" in manifest.spec ? (manifest.spec.cpus ?? 1) : 1,
    wakes: manifest.sleep.wakes,
    usage() {
      if (process === null || runnable === null) return null;
      const { cpu, memoryBytes } = usageOfGroup(settings.cgroups, id, runnable.context.limits);
      if (cpu !== null && memoryBytes !== null) return { cpuMs: cpu.ms, memoryBytes, group: cpu.group };
      const tree = usageOfTree(process.pid);
      if (tree === null) return null;
      const memory = { memoryBytes: memoryBytes ?? tree.memoryBytes };
      return cpu === null ? { ...tree, ...memory } : { cpuMs: cpu.ms, ...memory, group: cpu.group };
    },
    async ask() {
      if (!isAnswering || runnable === null) return null;
      return (await runnable.engine.reading?.(runnable.context)) ?? null;
    },
  };
}
