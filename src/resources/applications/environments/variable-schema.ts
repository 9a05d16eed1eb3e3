// The shapes of environment variables, and of requests that change them.
import { z } from "zod";

/** A process gets all its variables at once from the kernel, which bounds their size. */
export const MAX_VARIABLES = 500;
const MAX_KEY = 255;
const MAX_VALUE = 32_768;
/** The bytes of all variables together. */
export const MAX_VARIABLES_BYTES = 131_072;

export const variableKey = z
  .string()
  .max(MAX_KEY)
  .regex(
    /^[a-zA-Z_][a-zA-Z0-9_]*$/,
    "may have letters, digits and underscores, and does not begin with a digit",
  )
  .meta({ example: "APP_ENV" });

const value = z
  .string()
  .max(MAX_VALUE)
  // The environment of a process ends each variable with this character.
  .regex(/^[^\0]*$/, "may have any character but the null character")
  .meta({ example: "production" });

/** A variable. */
export const environmentVariable = z.object({ key: variableKey, value }).meta({ id: "EnvironmentVariable" });

export type EnvironmentVariable = z.output<typeof environmentVariable>;

const variables = z.array(environmentVariable).min(1).max(MAX_VARIABLES);

/** The body of `POST /environments/:id/variables`. */
export const variablesInsert = z
  .object({
    method: z.enum(["append", "set"]).meta({
      id: "EnvironmentVariablesInsertMethod",
      description: "`set` changes variables that exist and adds the others; `append` adds all at the end.",
      example: "set",
    }),
    variables,
  })
  .meta({ id: "EnvironmentVariablesInsert" });

export type VariablesInsert = z.output<typeof variablesInsert>;

/** The body of `POST /environments/:id/variables/delete`. */
export const variablesDeletion = z
  .object({ keys: z.array(variableKey).min(1).max(MAX_VARIABLES) })
  .meta({ id: "EnvironmentVariablesDeletion" });

export type VariablesDeletion = z.output<typeof variablesDeletion>;
