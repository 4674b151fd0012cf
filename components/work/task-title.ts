/** What the chart calls a task, else the state that asks. */
import { shortStateName } from "@/components/instances/state-name";
import { isJsonObject } from "@/lib/base/json";
import type { TaskView } from "@/lib/contract/tasks";

export const titleOf = ({ input, state }: TaskView): string =>
  isJsonObject(input) && typeof input.title === "string" && input.title !== ""
    ? input.title
    : shortStateName(state);
