// The limits of an instance in answers, the same for every kind.
import { z } from "zod";
import type { Limits } from "../../contracts/observation.ts";

const enforcers = ["cgroup-v2", "cgroup-v1", "rlimit", "engine"] as const satisfies Limits["enforcedBy"][];

/** The part of the system that enforces the memory limit of an instance. */
export const enforcedByField = z.enum(enforcers).meta({
  description:
    "The limit that bounds the engine's memory: the kernel's, for all processes of the engine together (`cgroup-v2`, `cgroup-v1`) or for each process alone (`rlimit`), or only the engine's own settings.",
  example: "cgroup-v2",
});

/** The most processes and threads of an instance. */
export const maxProcessesField = z.int().min(0).nullable().meta({
  description: "The most processes and threads of the engine; null without a limit.",
  example: 64,
});

/** The memory of all processes of an instance, in bytes. */
export const totalMemoryField = z.int().min(0).nullable().meta({
  description:
    "The most memory of the engine as a whole; the kernel ends an engine that needs more, and the host starts it again. Null without a limit.",
  example: 924_844_032,
});

/** The limits that hold for an instance as a whole; rows of earlier releases lack some of them. */
export function renderWhole(limits: Limits): {
  total_memory_bytes: number | null;
  max_processes: number | null;
  enforced_by: Limits["enforcedBy"];
} {
  const by = (limits as Partial<Limits>).enforcedBy ?? "engine";
  const total = limits.totalMemoryBytes ?? limits.memoryBytes;
  return {
    total_memory_bytes: by === "engine" ? null : total,
    max_processes: by.startsWith("cgroup") ? (limits.maxProcesses ?? null) : null,
    enforced_by: by,
  };
}
