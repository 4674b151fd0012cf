/**
 * What a step asks of the world, as data. The durable runtime turns them into rows in the step's own transaction,
 * `lockstep run` into entries of its virtual clock, the simulator into buttons.
 */
import type { Json } from "@/lib/base/json";
import type { ArmedTimer } from "./snapshot";

export type Effect =
  | { type: "timer.arm"; id: string; timer: ArmedTimer }
  | { type: "timer.cancel"; id: string }
  | {
      type: "send";
      /** null: self, external. Else `#_parent`, `#_INVOKEID`, `#_scxml_ID`, `instance:ID`. */
      to: string | null;
      event: { type: string; data?: Json; sendid?: string };
    }
  | {
      type: "invoke.start";
      id: string;
      src: string;
      state: string;
      index: number;
      generation: number;
      input: Json;
    }
  | { type: "invoke.cancel"; id: string; generation: number }
  | { type: "emit"; event: { type: string; data?: Json } }
  | { type: "log"; label?: string; value: Json }
  | { type: "compensate" };
