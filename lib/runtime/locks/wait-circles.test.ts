import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LockWait } from "@/lib/store/locks";
import { deadlocked } from "./wait-circles";

/** `session` waits for `key`, which `heldBy` holds. */
const wait = (
  session: string,
  key: string,
  heldBy: string | null,
  more: Partial<LockWait> = {},
): LockWait => ({
  key,
  ticket: 1,
  session,
  holder: session,
  since: 1,
  state: null,
  chartId: null,
  version: null,
  heldBy,
  heldHolder: heldBy,
  heldState: null,
  ...more,
});
/** By names: `a.b` is within `a`. */
const within = ({ state }: LockWait, outer: string): boolean =>
  state === outer || state?.startsWith(`${outer}.`) === true;
const victims = (...waits: LockWait[]) => deadlocked(waits, within).map(({ session, key }) => [session, key]);

describe("circles of waits", () => {
  test("of two callers that wait for each other the younger gives up; a mere queue is none", () => {
    expect(victims(wait("a", "K", "b", { since: 5 }), wait("b", "L", "a", { since: 9 }))).toEqual([
      ["b", "L"],
    ]);
    expect(
      victims(wait("a", "K", "b"), wait("c", "K", "b", { ticket: 2 }), wait("b", "L", "z", { since: 9 })),
    ).toEqual([]);
    expect(victims(wait("a", "K", null), wait("b", "L", "a"))).toEqual([]);
  });

  test("who stands before in a queue is waited for as well", () => {
    // Both of a's keys are granted together: L is b's, and b stands behind a for K, which is free.
    expect(
      victims(
        wait("a", "K", null, { since: 5 }),
        wait("b", "K", null, { ticket: 2, since: 9 }),
        wait("a", "L", "b", { since: 5 }),
      ),
    ).toEqual([["b", "K"]]);
  });

  test("a state waits for what is waited for within it, not beside it", () => {
    const inner = (instance: string, state: string) => ({
      session: `state:${instance}:1:2:inner`,
      holder: instance,
      state,
    });
    const held = (instance: string) => ({
      heldBy: `state:${instance}:1:1:outer`,
      heldHolder: instance,
      heldState: "zone",
    });
    const circle = (stateOfB: string) =>
      victims(
        { ...wait("", "K", null), ...inner("a", "zone.deep"), ...held("b"), since: 5 },
        { ...wait("", "L", null), ...inner("b", stateOfB), ...held("a"), since: 9 },
      );
    expect(circle("zone.deep")).toEqual([["state:b:1:2:inner", "L"]]);
    expect(circle("elsewhere")).toEqual([]);
    // Its own.
    expect(victims({ ...wait("", "K", null), ...inner("a", "zone.deep"), ...held("a") })).toHaveLength(1);
    // An earlier life's.
    expect(
      victims({
        ...wait("", "K", null),
        ...inner("a", "zone.deep"),
        ...held("a"),
        heldBy: "state:a:7:1:outer",
      }),
    ).toEqual([]);
  });

  test("whatever waits for whom: no circle is left, and nobody gives up for less than one", () => {
    const names = fc.constantFrom("a", "b", "c", "d", "e");
    const drawn = fc.array(fc.record({ session: names, heldBy: names, since: fc.nat(3) }), { maxLength: 12 });
    fc.assert(
      fc.property(drawn, (all) => {
        const waits = all.map(({ session, heldBy, since }, index) =>
          wait(session, `k${String(index).padStart(2, "0")}`, heldBy, { since }),
        );
        const over = deadlocked(waits, within);
        let left = waits;
        for (const victim of over) {
          expect(reaches(left, victim)).toBe(true);
          left = left.filter((each) => each.key !== victim.key);
        }
        for (const each of left) expect(reaches(left, each)).toBe(false);
      }),
    );
  });
});

/** By the closure of who waits for whom. */
function reaches(waits: readonly LockWait[], start: LockWait): boolean {
  const found = new Set<string | null>([start.heldBy]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const { session, heldBy } of waits) if (found.has(session)) found.add(heldBy);
  }
  return found.has(start.session);
}
