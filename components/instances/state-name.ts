/**
 * A state's name for a narrow place: the last part of a path name (`mission.drive.waiting` → `waiting`). The whole name
 * goes into the title beside it.
 */
export const shortStateName = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** `waiting · normal`: the active states in one line. */
export const shortStates = (names: readonly string[]): string => names.map(shortStateName).join(" · ");
