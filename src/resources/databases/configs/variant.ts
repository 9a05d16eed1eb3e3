// Describes, checks and completes the `config` of each type.
import { z } from "zod";
import type { FieldErrors } from "../../../api/jsonapi/errors.ts";
import { addFault, checkObject, longEnumerations } from "../../../api/operation/validation.ts";

/** The parts of a shape of `config`. */
interface Definition<Schema extends z.ZodObject> {
  title: string;
  /** The members of an answer; a request may leave each of them out. */
  schema: Schema;
  /** The defaults of absent members. */
  defaults: z.output<Schema>;
  /**
   * The errors between members, derived from the members that are valid by themselves: ends of sentences that begin
   * with the member.
   */
  faults?(given: Partial<z.output<Schema>>): Record<string, string>;
  /** The defaults that depend on other members. */
  preset?(given: Partial<z.output<Schema>>): Partial<z.output<Schema>>;
}

/** One shape of `config`. */
interface ConfigVariant<Schema extends z.ZodObject> {
  title: string;
  schema: Schema;
  defaults: z.output<Schema>;
  /** All errors of a request's `config`, by names such as `config.size`. */
  check(given: object): FieldErrors;
  /** The values in force for a valid `config`. */
  complete(given: object): z.output<Schema>;
  /**
   * The config that a change asks for: the given members of this type, and all others as they are. Null means an absent
   * member where null is no value.
   */
  merge(inForce: object, given: object): object;
}

/** The member `size`, which has too many values to list in an error. */
export function sizeField<const Size extends string>(
  sizes: readonly Size[],
  meta: { description: string; example: NoInfer<Size> },
) {
  const size = z.enum(sizes).meta(meta);
  longEnumerations.add(size, { command: "pilvi databases types" });
  return size;
}

/** Makes a shape of `config` from its parts. */
export function configVariant<Schema extends z.ZodObject>(
  definition: Definition<Schema>,
): ConfigVariant<Schema> {
  const { title, schema, defaults, faults, preset } = definition;
  const request = schema.partial();
  const read = (given: object, prefix?: string) => {
    const { valid, errors } = checkObject(request, given, prefix);
    return { valid: valid as Partial<z.output<Schema>>, errors };
  };
  return {
    title,
    schema,
    defaults,
    check(given) {
      const { valid, errors } = read(given, "config.");
      for (const [member, end] of Object.entries(faults?.(valid) ?? {})) {
        addFault(errors, `config.${member}`, `The field config.${member} ${end}.`);
      }
      return errors;
    },
    complete(given) {
      const { valid } = read(given);
      return { ...defaults, ...preset?.(valid), ...valid };
    },
    merge(inForce, given) {
      const changed = Object.entries(given).filter(([name, value]) => {
        const member = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
        return member !== undefined && (value !== null || z.safeParse(member, null).success);
      });
      return { ...inForce, ...Object.fromEntries(changed) };
    },
  };
}

export const retentionDays = z.int().min(0).max(30).meta({
  description:
    "Days for which backups are kept; of a serverless Postgres, each instant of them can be restored, and 0 keeps none.",
  example: 0,
});

export const isPublic = z
  .boolean()
  .meta({ description: "Whether other machines may reach the cluster.", example: false });

const MOMENT = "(mon|tue|wed|thu|fri|sat|sun):([01][0-9]|2[0-3]):[0-5][0-9]";

export const maintenanceWindow = z
  .string()
  .regex(new RegExp(`^${MOMENT}-${MOMENT}$`), "must be two moments of the week such as sun:06:00-sun:06:30")
  .nullable()
  .meta({
    description:
      "When maintenance may happen, in UTC; null is at any time. Daily backups begin at its time of the day.",
    example: "sun:06:00-sun:06:30",
  });

export function suspendSeconds(description: string) {
  return z.int().min(0).max(604_800).meta({ description, example: 300 });
}
