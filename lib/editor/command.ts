/**
 * Every command of the editor as data, and the one function that carries them out.
 *
 * Holds: applyCommand is pure; its result is a new document, complete (each element has a place), or a refusal that
 * changed nothing.
 */
import { settle } from "@/lib/diagram/settle";
import type { Layout } from "@/lib/diagram/layout";
import type { Chart } from "@/lib/statechart/document";
import { isRefusal, type EditContext, type EditOutcome, type EditorDocument } from "./document";
import { setChartField, setStateField, type ChartField, type StateField } from "./field-commands";
import { moveStates, resizeState, setLayout, toggleCollapsed } from "./layout-commands";
import { addState, deleteElements, renameState, reparentStates, setInitial, setKind } from "./state-commands";
import { addTransition, editTransition, moveCandidate, setLabel } from "./transition-commands";

type Args<F> = F extends (document: EditorDocument, command: infer C) => EditOutcome ? C : never;

export type Command =
  | ({ do: "add-state" } & Args<typeof addState>)
  | ({ do: "rename-state" } & Args<typeof renameState>)
  | ({ do: "reparent-states"; places?: Record<string, { x: number; y: number }> } & Args<
      typeof reparentStates
    >)
  | ({ do: "delete" } & Args<typeof deleteElements>)
  | ({ do: "set-kind" } & Args<typeof setKind>)
  | ({ do: "set-initial" } & Args<typeof setInitial>)
  | ({ do: "add-transition" } & Args<typeof addTransition>)
  | ({ do: "set-label" } & Args<typeof setLabel>)
  | ({ do: "edit-transition" } & Args<typeof editTransition>)
  | ({ do: "move-candidate" } & Args<typeof moveCandidate>)
  | { do: "set-state-field"; state: string; field: StateField; value: unknown }
  | { do: "set-chart-field"; field: ChartField; value: unknown }
  | ({ do: "move-states" } & Args<typeof moveStates>)
  | ({ do: "resize-state" } & Args<typeof resizeState>)
  | ({ do: "toggle-collapsed" } & Args<typeof toggleCollapsed>)
  | ({ do: "set-layout" } & Args<typeof setLayout>)
  | { do: "replace-chart"; chart: Chart; layout?: Layout };

export function applyCommand(document: EditorDocument, command: Command, context: EditContext): EditOutcome {
  const outcome = carryOut(document, command);
  if (isRefusal(outcome) || outcome.document === document) return outcome;
  const { chart, layout } = outcome.document;
  return { ...outcome, document: { chart, layout: settle(document, { chart, layout }, context.measure) } };
}

function carryOut(document: EditorDocument, command: Command): EditOutcome {
  switch (command.do) {
    case "add-state":
      return addState(document, command);
    case "rename-state":
      return renameState(document, command);
    case "reparent-states": {
      // The drag's places first, under the old names; renaming carries them along.
      const moved = command.places ? moveStates(document, { places: command.places }) : { document };
      return isRefusal(moved) ? moved : reparentStates(moved.document, command);
    }
    case "delete":
      return deleteElements(document, command);
    case "set-kind":
      return setKind(document, command);
    case "set-initial":
      return setInitial(document, command);
    case "add-transition":
      return addTransition(document, command);
    case "set-label":
      return setLabel(document, command);
    case "edit-transition":
      return editTransition(document, command);
    case "move-candidate":
      return moveCandidate(document, command);
    case "set-state-field":
      return setStateField(document, command as Args<typeof setStateField>);
    case "set-chart-field":
      return setChartField(document, command as Args<typeof setChartField>);
    case "move-states":
      return moveStates(document, command);
    case "resize-state":
      return resizeState(document, command);
    case "toggle-collapsed":
      return toggleCollapsed(document, command);
    case "set-layout":
      return setLayout(document, command);
    case "replace-chart":
      return { document: { chart: command.chart, layout: command.layout ?? document.layout } };
  }
}
