// The variable parts of the paths of applications and of what belongs to them.
import { z } from "zod";

const UUID = "[0-9a-f-]{36}";
const EXAMPLE = "0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f";

function idParams(prefix: string, noun: string) {
  return z.object({
    id: z
      .string()
      .regex(new RegExp(`^${prefix}-${UUID}$`))
      .meta({ description: `The ${noun}'s id.`, example: `${prefix}-${EXAMPLE}` }),
  });
}

export const applicationParams = idParams("app", "application");
export const environmentParams = idParams("env", "environment");
export const deploymentParams = idParams("depl", "deployment");
export const commandParams = idParams("comm", "command");
export const instanceParams = idParams("inst", "instance");
export const backgroundProcessParams = idParams("process", "background process");
