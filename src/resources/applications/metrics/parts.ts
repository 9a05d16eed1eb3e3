// The parts of an environment that are measured: its instance, and the background processes beside it.
import type { Queryable } from "../../../store/database.ts";

/** A part of an environment under whose id the readings of its processes are kept. */
interface MeasuredPart {
  id: string;
  name: string;
  /** Whether its processes answer requests. */
  isInstance: boolean;
}

/** The parts of an environment, its instance first. A background process without a name has that of its type. */
export async function partsOf(db: Queryable, environmentId: string): Promise<MeasuredPart[]> {
  return await db<MeasuredPart[]>`
    select id, name, true as "isInstance" from process_groups
    where environment_id = ${environmentId} and type = 'app'
    union all
    select b.id, coalesce(b.procfile_name, b.type), false
    from background_processes b join process_groups g on g.id = b.process_group_id
    where g.environment_id = ${environmentId}
    order by "isInstance" desc, id`;
}
