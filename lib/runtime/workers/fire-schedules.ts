/** Fires the schedules that have a tick due; any process may, SKIP LOCKED keeps them apart. */
import { fireSchedule } from "../schedules/fire-schedule";
import type { RuntimeContext } from "../runtime-context";

const schedulesMax = 20;

/** True when there may be more. */
export async function fireSchedules(
  context: RuntimeContext,
  report: (error: unknown) => void,
): Promise<boolean> {
  const { store } = context;
  const due = await store.findDueSchedules(await store.now(), schedulesMax);
  let fired = 0;
  for (const scheduleId of due) {
    try {
      if (await fireSchedule(context, scheduleId, report)) fired += 1;
    } catch (error) {
      report(error);
    }
  }
  return fired > 0;
}
